"""The reference says which answers bring the tag of a version (FM-12)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.memory_client import MemoryClient
from tests.support.run_client import Runtime

A = "/api/v1"
TEAM = f"{A}/memories/{{memory_id}}"
THREAD = f"{A}/threads/{{thread_id}}"
PLAIN = {"type": "mem0_oss", "name": "Mem0", "config": {"base_url": "https://mem0.example"}}


def said(document: dict[str, Any], path: str, method: str) -> set[str]:
    """Return the states of an operation that bring a tag."""
    responses = document["paths"][path][method.lower()]["responses"]
    return {state for state, answer in responses.items() if "ETag" in answer.get("headers", {})}


@pytest.mark.req("FM-12", "MT-10", "MT-12", "SM-30")
async def test_the_tags_of_answers_are_in_the_reference(writer: MemoryClient) -> None:
    document = (await writer.http.get("/openapi.json")).json()
    tagged: set[tuple[str, str]] = set()

    async def ask(method: str, path: str, sent: str, body: Any = None, tag: str | None = None) -> Any:
        answer = await writer.send(method, sent, body, tag=tag)
        assert answer.status_code < 300, answer.text
        states = said(document, path, method)
        assert ("etag" in answer.headers) == (str(answer.status_code) in states), (method, path)
        tagged.update({(method, path)} if states else ())
        return answer.headers.get("etag"), answer.json() if answer.content else None

    memory, view = await ask("POST", f"{A}/memories", "//memories", {"name": "Team"})
    team = f"//memories/{view['id']}"
    await ask("GET", f"{A}/memories", "//memories")
    await ask("GET", TEAM, team)
    memory, _ = await ask("PATCH", TEAM, team, {"name": "Other"}, memory)
    file, _ = await ask("POST", f"{TEAM}/files", f"{team}/files", {"path": "a.md", "content": "a"})
    await ask("GET", f"{TEAM}/files/{{path}}", f"{team}/files/a.md")
    file, _ = await ask("PUT", f"{TEAM}/files/{{path}}", f"{team}/files/a.md", {"content": "b"}, file)
    file, _ = await ask("POST", f"{TEAM}/revisions/{{seq}}/restore", f"{team}/revisions/2/restore", None, file)
    move = {"source": "a.md", "destination": "b.md"}
    file, _ = await ask("POST", f"{TEAM}/files/move", f"{team}/files/move", move, file)
    await ask("GET", f"{TEAM}/files", f"{team}/files")
    await ask("GET", f"{TEAM}/revisions/{{seq}}", f"{team}/revisions/1")
    await ask("DELETE", f"{TEAM}/files/{{path}}", f"{team}/files/b.md", None, file)

    thread, made = await ask("POST", f"{A}/threads", "//threads", {})
    at = f"//threads/{made['id']}"
    mount = {"name": "team", "memory_id": view["id"]}
    thread, _ = await ask("POST", f"{THREAD}/memories", f"{at}/memories", mount, thread)
    await ask("GET", THREAD, at)
    await ask("GET", f"{THREAD}/memories", f"{at}/memories")
    one = f"{at}/memories/team"
    thread, _ = await ask("PATCH", f"{THREAD}/memories/{{name}}", one, {"access": "write"}, thread)
    thread, _ = await ask("DELETE", f"{THREAD}/memories/{{name}}", one, None, thread)
    agent, scout = await ask("POST", f"{A}/agents", "//agents", {"name": "Scout"})
    await ask("GET", f"{A}/agents/{{agent_id}}", f"//agents/{scout['id']}")
    await ask("PATCH", f"{A}/agents/{{agent_id}}", f"//agents/{scout['id']}", {"name": "Other"}, agent)
    run = await Runtime(writer, made["id"], agent=scout["id"]).accept()
    await ask("GET", f"{A}/runs/{{run_id}}", f"//runs/{run}")
    await ask("POST", f"{A}/runs/{{run_id}}/fork", f"//runs/{run}/fork", {})
    for verb in ("archive", "unarchive"):
        await ask("POST", f"{THREAD}/{verb}", f"{at}/{verb}")

    key, provider = await ask("POST", f"{A}/memory-providers", "//memory-providers", PLAIN)
    of_provider, here = f"{A}/memory-providers/{{provider_id}}", f"//memory-providers/{provider['id']}"
    await ask("GET", of_provider, here)
    await ask("PATCH", of_provider, here, {"name": "Other"}, key)
    await ask("DELETE", TEAM, team, None, memory)

    listed = {
        (method.upper(), path)
        for path, item in document["paths"].items()
        for method in item.keys() - {"parameters"}
        if said(document, path, method) and "sandbox" not in path
    }
    assert listed == tagged, "every one was asked"
