"""Every command block of the README and of the how-to pages is run here, against a real server on a free port."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Block, Clone, blocks, inline_of
from tests.support.neo4j_store import wipe

README = ROOT / "README.md"
OF_MAKE = ("make run", "make test")
"""Blocks that are one command of make: their recipes are looked at, and what `run` starts is the server of the test."""
RUN_HERE = (
    "agent-memory.md",
    "back-up-and-restore.md",
    "bot-memory.md",
    "connect-documents.md",
    "file-memory.md",
    "keys.md",
    "report-as-a-host.md",
    "run-memory.md",
    "sandbox-memory.md",
    "session-memory.md",
    "tokens-and-rights.md",
    "use-a-model.md",
    "use-graphql.md",
    "use-mcp.md",
    "verify-an-audit.md",
    "watch-dreaming.md",
)
NOT_RUN = {
    "connect-neo4j.md": "needs Docker, or a database of one's own; the README's block is run on a real Neo4j",
    "run-the-benchmarks.md": "takes long",
    "run-the-tests.md": "would run this test",
    "use-embeddings.md": "fetches a model from Maven; tests/api/cli/test_local_models.py holds its commands",
}

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


def of_readme(language: str) -> list[Block]:
    return [block for block in blocks(README) if block.info == language]


def test_every_block_of_the_readme_is_run() -> None:
    languages = {block.info for block in blocks(README)}
    assert languages == {"sh", "json", "sh neo4j"}
    of_make = [block.text.strip() for block in of_readme("sh") if block.text.startswith("make ")]
    assert of_make == list(OF_MAKE)
    recipe = re.search(r"^run: \$\(READY\).*\n\t@\$\(BIN\)/(.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert recipe
    assert recipe[1] == "rootward serve --tokens"


@needs_curl
@pytest.mark.req("AD-18", "AD-44", "AD-45")
def test_the_commands_of_the_readme_do_what_it_says(clone: Clone) -> None:
    said: dict[str, list[str]] = {}
    for block in of_readme("sh"):
        if block.text.strip() not in OF_MAKE:
            said.setdefault(block.heading, []).append(clone.run(block.text))
    (tried,) = said["Install and first run"]
    assert "everything from China goes by rail" in tried
    assert "learned while dreaming" in tried
    assert "Only Mei Lin sees:" in tried
    assert "Restored:" in tried
    first, second = said["First query"]
    (answer,) = of_readme("json")
    assert json.loads(first) == json.loads(answer.text)
    (item,) = json.loads(second)["data"]["memorySearch"]["items"]
    assert item["sources"]
    assert "rail" in item["text"]
    (loaded,) = said["Load your own chat"]
    assert "3 messages in 2 channels of helper" in loaded
    ana_and_rolf, rights = said["Who sees what"]
    ana, rolf, both = re.split(r"^(?=\S.* asks? )", ana_and_rolf, flags=re.MULTILINE)[1:]
    assert "under the mat" in ana
    assert "under the mat" not in rolf
    assert "hidden from Rolf" in both
    assert "Otto Petersen asks Kettle" in rights
    (session,), (agent,), (bot,) = said["Session memory"], said["Agent memory"], said["Bot memory"]
    assert '"revision":1' in session
    assert '"route":{"key":"route","content":"The spring tea goes by rail.","kind":"decision"' in session
    assert '"content":"Print labels in two languages.","kind":"procedure","sources":[]' in agent
    assert bot.count('"content":"My desk phone is off on Fridays."') == 2
    assert re.search(r'\{"entries":\[\],"version":\d+\}$', bot)
    (sandbox,) = said["Sandbox memory"]
    assert '"rollout_id":"tea","path":"sessions/tea.jsonl","segment_count":1' in sandbox
    assert sandbox.count("sessions/tea.jsonl") == 2
    (tool,) = said["Tools for agents"]
    assert not json.loads(tool)["result"]["isError"]
    assert "rail" in tool
    dreamed, profiles, local = said["Let it dream"]
    assert "asked recorded:sample" in dreamed
    assert "refused addRelation [QUOTE_NOT_VERBATIM]" in dreamed
    assert [line.split(" (")[0] for line in (profiles + local).splitlines()] == [
        "light: anthropic claude-haiku-4-5",
        "light: google gemini-2.5-flash",
        "light: openai gpt-5-mini",
        "light: openai local",
    ]


@pytest.mark.req("AD-44")
def test_the_three_things_to_try_are_those_that_a_start_prints(clone: Clone) -> None:
    tried = next(block.text for block in of_readme("sh") if "rootward ask" in block.text)
    assert [
        line.strip() for line in clone.said.splitlines() if line.strip() in tried.splitlines()
    ] == tried.splitlines()


@pytest.mark.parametrize("name", RUN_HERE)
def test_the_commands_of_a_page_run(clone: Clone, name: str) -> None:
    for block in blocks(ROOT / "docs" / "how-to" / name):
        if block.info == "sh":
            clone.run(block.text)


def test_every_page_with_commands_is_run_or_says_why_not() -> None:
    pages = ROOT / "docs" / "how-to"
    with_commands = {page.name for page in pages.glob("*.md") if any(b.info == "sh" for b in blocks(page))}
    assert with_commands <= {*RUN_HERE, *NOT_RUN}


def test_the_readme_leads_to_every_page() -> None:
    linked = {(ROOT / str(token.attrs["href"])).resolve() for token in inline_of(README) if "href" in token.attrs}
    docs = ROOT / "docs"
    assert {*docs.glob("*.md"), *docs.glob("how-to/*.md")} <= linked


@pytest.mark.neo4j
@pytest.mark.req("AD-14", "AD-40")
def test_the_block_for_neo4j_runs_on_a_real_one(clone: Clone, neo4j_uri: str) -> None:
    asyncio.run(wipe(neo4j_uri))
    (block,) = of_readme("sh neo4j")
    said = clone.run(block.text, **{"neo4j://127.0.0.1:7687": neo4j_uri})
    assert "neo4j: Neo4j/" in said
    assert "admin: neo4j-data/admin.token" in said
    token = clone.folder / "neo4j-data" / "admin.token"
    assert token.stat().st_mode & 0o777 == 0o600
    assert "nothing is to be done" in said
    asyncio.run(wipe(neo4j_uri))  # nobody else has the keys of this store


@pytest.mark.req("AD-36")
@pytest.mark.parametrize(
    "file",
    [
        "README.md",
        "Dockerfile",
        "docker-compose.yml",
        *(f"docs/how-to/{page.name}" for page in sorted((ROOT / "docs" / "how-to").glob("*.md"))),
    ],
)
def test_variables_that_files_and_pages_name_are_settings(file: str) -> None:
    from api.settings import MODEL_PREFIX, NOT_SETTINGS, PREFIX, TEST_PREFIX, names

    known = {PREFIX + name.upper().replace(".", "__") for name in names()} | NOT_SETTINGS
    used = set(re.findall(r"\bROOTWARD_[A-Z0-9_]*", (ROOT / file).read_text(encoding="utf-8")))
    assert {name for name in used if not name.startswith((TEST_PREFIX, MODEL_PREFIX, "ROOTWARD_…"))} - {PREFIX} <= known


def test_settings_that_pages_name_exist() -> None:
    from api.settings import names
    from graph.rules.knowledge_settings import SPECS

    sections = {name.partition(".")[0] for name in (*names(), *SPECS)}
    pages: list[Path] = [README, *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
    for page in pages:
        quoted = set(re.findall(r"`([a-z_]+\.[a-z_]+)`", page.read_text(encoding="utf-8")))
        quoted = {name for name in quoted if not name.endswith((".jsonl", ".json", ".token"))}
        assert {name for name in quoted if name.partition(".")[0] in sections} <= {*names(), *SPECS}, page
