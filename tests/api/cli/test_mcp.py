"""`rootward mcp` as a process of its own, between a client of the protocol and a server that is a third process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters

from api.cli import exits
from tests.api.cli.support import GRACE_S, PROGRAM, Cli, Server, environment, serving
from tests.support.mcp_client import mcp_client, told
from tests.support.mcp_loop import last_read, uses, work
from tests.support.mem0_server import Mem0Server
from tests.support.memory_client import MemoryClient
from tests.support.run_client import Runtime

QUESTION = "Does Mei buy the spring tea in 2027?"
STYLE = {"memory": "team", "path": "style.md"}


@asynccontextmanager
async def stdio(cli: Cli, *arguments: str, mode: str = "auto", **more: str) -> AsyncIterator[Client]:
    """Start the command and speak to it, as a client on a desktop does."""
    variables = environment(cli.data_dir, **{**cli.more, **more})
    process = StdioServerParameters(command=str(PROGRAM), args=["mcp", *arguments], env=variables)
    async with Client(process, mode=mode, cache=None) as client:
        yield client


async def test_two_people_find_what_they_find_over_http_and_each_his_own(sample: Server) -> None:
    found: dict[str, Any] = {}
    for who, mode in (("mei", "legacy"), ("jonas", "auto")):
        async with stdio(sample.cli, "knowledge", "--as", who, mode=mode) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["search", "browse", "trace"]
            found[who] = told(await client.call_tool("search", {"query": QUESTION}))
            listed = [one.uri for one in (await client.list_resources()).resources]
            ref = next(item["ref"] for item in found[who]["items"] if item["kind"] == "entry")
            graph = told(await client.call_tool("trace", {"ref": ref}))
        async with mcp_client(None, "/mcp/knowledge", sample.cli.token(who), mode=mode, base=sample.address) as near:
            assert told(await near.call_tool("search", {"query": QUESTION})) == found[who]
            assert told(await near.call_tool("trace", {"ref": ref})) == graph
            assert [one.uri for one in (await near.list_resources()).resources] == listed
        assert {"Source", "BlockVersion"} <= {node["type"] for node in graph["nodes"]}
    assert found["mei"] != found["jonas"], "each sees his own private chat"


@pytest.fixture
async def mem0() -> AsyncIterator[Mem0Server]:
    async with Mem0Server() as server:
        yield server


@pytest.fixture
def own(made: Cli, mem0: Mem0Server) -> Iterator[Server]:
    """A server of one's own whose admin may write memories, and may ask the record backend of the test."""
    made.ok("admin", "grant", "admin", "write", "workspace")
    with serving(made, "--no-sample", ROOTWARD_PROVIDERS__HTTP_ORIGINS=mem0.url) as server:
        yield server


async def test_an_agent_mounts_a_memory_edits_a_file_searches_and_recalls(own: Server, mem0: Mem0Server) -> None:
    async with httpx2.AsyncClient(base_url=own.address, timeout=60) as http:
        host = MemoryClient(http=http, token=own.cli.token("admin"))
        team = await host.make(always_load=["style.md"])
        provider = await host.ok(
            "POST", "//memory-providers", {"type": "mem0_oss", "name": "Mem0", "config": {"base_url": mem0.url}}
        )
        facts = await host.make(type="mem0_oss", provider_id=provider["id"])
        first = await Runtime(host).start()
        await first.mount("team", team.memory)
        await first.mount("facts", facts.memory)
        run = await first.accept("What does Mia drink?")
        given = await first.attempt(run)
        async with stdio(own.cli, "run", run) as client:
            model = await work(
                client,
                uses("memory_file_create", **STYLE, content="Be brief.\n"),
                uses(
                    "memory_file_edit", memory="team", path="style.md", old_string="brief", new_string="brief, and kind"
                ),
                uses("memory_file_grep", memory="team", pattern="kind"),
                uses("memory_record_add", memory="facts", text="Mia drinks green tea."),
                uses("memory_record_search", memory="facts", query="tea"),
                uses("memory_file_edit", **STYLE, old_string="gone", new_string="x"),
                "Done.",
                preamble="\n".join(given["preamble"]),
            )
            heard = [last_read(request) for request in model.requests[1:]]
            assert heard[1] == {"output": {"path": "style.md", "version": 2, "size": 20}}
            assert "Be brief, and kind." in json.dumps(heard[2])
            assert heard[4]["output"]["records"][0]["text"] == "Mia drinks green tea."
            assert heard[5].startswith("error: ")
            assert "no_match" in heard[5]
            assert model.requests[0].instructions == given["instructions"]
            await first.complete(run)
            assert (await client.list_tools()).tools == []
        later = await first.start()
        await later.mount("team", team.memory, "read")
        await later.mount("facts", facts.memory, "read")
        recalled = await later.run("What does Mia drink?")
        assert [report["status"] for report in recalled["reports"]] == ["full", "recalled"]
        assert "Be brief, and kind." in recalled["preamble"][0]
        assert "Mia drinks green tea." in recalled["preamble"][1]
        assert [revision["run_id"] for revision in await team.revisions()] == [run, run]


def test_standard_output_carries_the_protocol_and_nothing_else(sample: Server) -> None:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": about},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        "no JSON",
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    ]
    done = subprocess.run(
        [PROGRAM, "mcp", "knowledge", "--as", "mei"],
        input="".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines),
        env=environment(sample.cli.data_dir),
        capture_output=True,
        text=True,
        check=False,
        timeout=GRACE_S,
    )
    assert (done.returncode, done.stderr) == (0, "")
    said = {one["id"]: one for one in map(json.loads, done.stdout.splitlines())}
    assert set(said) == {"a", None, 1}
    assert said["a"]["result"]["protocolVersion"] == "2025-06-18"
    assert len(said[1]["result"]["tools"]) == 3


def test_without_a_server_or_a_token_the_command_says_so_and_ends(made: Cli) -> None:
    ran = made.run("mcp", "knowledge")
    assert (ran.out, ran.code) == ("", exits.AWAY)
    assert "rootward serve" in ran.err
    ran = made.run("mcp", "run", "run_x", "--as", "nobody")
    assert (ran.out, ran.code) == ("", exits.USAGE)
    assert str(made.data_dir) in ran.err
