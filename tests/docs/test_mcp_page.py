"""The page on MCP: its configurations start commands that exist; its endpoints, tools and limits are the real ones."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest

from api.cli.main import guarded, make_app
from api.mcp.knowledge import TOOLS
from api.mcp.protocol import CALL_ID
from api.mcp.routes import ENDPOINTS, LARGE, SMALL
from api.mcp.shelf import ENTRIES, SOURCES
from dreaming.bots.confide_tool import NAME
from tests.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "how-to" / "use-mcp.md"
TEXT = PAGE.read_text(encoding="utf-8")
SERVERS: list[dict[str, Any]] = [
    server for block in blocks(PAGE) if block.info == "json" for server in json.loads(block.text)["mcpServers"].values()
]


def test_the_configurations_start_commands_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    started = [server for server in SERVERS if "command" in server]
    assert len(started) == 2
    for server in started:
        assert server["command"].endswith("rootward")
        run = partial(make_app(), [*server["args"], "--help"], prog_name="rootward")
        assert guarded(run) == 0
        assert "--as" in capsys.readouterr().out


def test_the_addresses_and_tools_are_those_of_the_server() -> None:
    assert re.findall(r"^\| `(/mcp/\S+)` \|", TEXT, flags=re.MULTILINE) == list(ENDPOINTS)
    assert [urlsplit(server["url"]).path for server in SERVERS if "url" in server] == ["/mcp/knowledge"]
    assert ", ".join(f"`{tool.name}`" for tool in TOOLS) in TEXT
    for word in (NAME, CALL_ID, f"{ENTRIES}{{ref}}", f"{SOURCES}{{ref}}"):
        assert f"`{word}`" in TEXT


def test_the_limits_are_those_of_the_server() -> None:
    assert (SMALL, LARGE) == (128 * 1_024, 8 * 1_048_576 + 64 * 1_024)
    assert "at most 128 KiB, for runs 8 MiB and 64 KiB" in TEXT
