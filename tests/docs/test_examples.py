"""The examples run against a real server, with a model that says what was written for them."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.api.cli.support import Cli, Server, serving
from tests.docs.pages import ROOT
from tests.support.model_server import ModelServer, Reply

PROOF = "Proof the sourdough overnight."
_ENTRY = re.compile(r"mem_[a-z0-9]{16,}")


def says(body: Any) -> str:
    """Answer a request of the service as a model would that keeps what the example tells."""
    told = "\n".join(str(message["content"]) for message in body["messages"])
    if "keep the memory of one conversation" in told:
        return _changes(_tag="Remember", key="proofing", content=PROOF, kind="procedure", sources=["i-1"])
    if "keep the lasting memory of one agent" in told:
        source = {"session": "demo-s1", "item": "i-1"}
        return _changes(_tag="Remember", key="proofing", content=PROOF, kind="procedure", sources=[source])
    if "tells you in confidence" in told:
        return "That sounds hard."
    if "prepare what a person said" in told:
        text = "Plan the trays for batch 12. I cannot lift heavy ones."
        return json.dumps({"text": text, "entries": _ENTRY.findall(told)[:1]})
    chat, item, content = (
        ("demo-c2", "k-1", "The oven is booked on Friday.")
        if "k-1" in told
        else ("demo-c1", "c-1", "Ana cannot lift heavy trays this month.")
    )
    return _changes(_tag="Fact", content=content, topics=[], sources=[{"chat": chat, "item": item}])


def _changes(**change: Any) -> str:
    return json.dumps({"changes": [change]})


async def run(server: Server, models: ModelServer) -> str:
    """Run the host example as a process of its own and return what it printed."""
    options = ["--url", server.address, "--token-file", str(server.cli.data_dir / "admin.token"), "--name", "demo"]
    models_of = ["--model-url", f"{models.url}/v1", "--model", "small-1"]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(ROOT / "examples" / "host_chat.py"),
        *options,
        *models_of,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


@pytest.mark.req("AD-15", "AD-17", "AD-20", "SM-125")
async def test_the_host_example_tells_what_was_learned_and_who_sees_it(tmp_path: Path) -> None:
    async with ModelServer(replies=[Reply(text=says)]) as models:
        with serving(Cli(data_dir=tmp_path / "data"), "--no-sample") as server:
            said = await run(server, models)
    assert said.splitlines() == [
        "Session memory",
        f"  Ana sees proofing: {PROOF}",
        "  Rolf sees nothing of it: SessionNotFound",
        "Agent memory",
        f"  Ana sees: {PROOF} (1 of its sources)",
        f"  Rolf sees: {PROOF} (0 of its sources)",
        "Bot memory",
        "  the bot confided and was answered: That sounds hard.",
        "  the bot confided and was answered: That sounds hard.",
        "  Ana sees: The oven is booked on Friday.; Ana cannot lift heavy trays this month.",
        "  Rolf sees: The oven is booked on Friday.",
        "  The admin sees: nothing",
        "  behind the newest: k-1: The oven is booked on Friday.",
        "  the bot confided and was answered: That sounds hard.",
        "  the bot's model was given: Plan the trays for batch 12. I cannot lift heavy ones.",
    ]
