"""What tests of sandbox memory stand on: a client in a temporary directory, a clock, scripted models."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rootward import (
    LocalSandboxSession,
    MemoryLimits,
    ModelRequest,
    ModelResponse,
    RunResult,
    SandboxAgent,
    UnixLocalSandboxClient,
    filesystem,
    memory,
    run,
    shell,
)
from rootward.models import Answer, Item, call, message_text
from rootward.sandbox.capabilities import Capability
from rootward.testing import Says, ScriptedModel


@dataclass
class TickingClock:
    """A second later at each look."""

    time: datetime = datetime(2026, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


@dataclass
class World:
    """One client, the models it knows by the default names, and a model for agents.

    Attributes:
        one: extracts; by default it keeps what `notes` says.
        two: consolidates; by default it writes what `merges` says.
        speaker: answers users.
    """

    base: Path
    one: ScriptedModel = field(default_factory=lambda: ScriptedModel(notes()))
    two: ScriptedModel = field(default_factory=lambda: ScriptedModel(*merges()))
    speaker: ScriptedModel = field(default_factory=lambda: ScriptedModel("Done."))
    clock: TickingClock = field(default_factory=TickingClock)
    limits: MemoryLimits = field(default_factory=MemoryLimits)

    @property
    def client(self) -> UnixLocalSandboxClient:
        models = {"gpt-5.4-mini": self.one, "gpt-5.4": self.two}
        return UnixLocalSandboxClient(self.base, models=models, limits=self.limits, now=self.clock)

    def agent(self, *capabilities: Capability, name: str = "reviewer", instructions: str = "") -> SandboxAgent:
        """An agent with these capabilities; without any with shell, files and memory."""
        given = capabilities or (filesystem(), shell(), memory())
        return SandboxAgent(name=name, model=self.speaker, instructions=instructions, capabilities=given)

    async def close_after(self, *conversations: str, agent: SandboxAgent | None = None) -> LocalSandboxSession:
        """A closed session in which these conversations, one after another, got a run each."""
        sandbox = await self.client.create()
        await self.say_in(sandbox, *conversations, agent=agent)
        await sandbox.close()
        return sandbox

    async def say_in(
        self, sandbox: LocalSandboxSession, *conversations: str, agent: SandboxAgent | None = None
    ) -> RunResult | None:
        result = None
        for conversation in conversations:
            said = f"said in {conversation}"
            result = await run(agent or self.agent(), said, sandbox=sandbox, conversation_id=conversation)
        return result

    async def again(self, sandbox: LocalSandboxSession, *conversations: str, agent: SandboxAgent | None = None) -> None:
        """A later session over the same workspace, closed."""
        later = await self.client.resume(sandbox.id)
        await self.say_in(later, *conversations, agent=agent)
        await later.close()


class SilentModel(ScriptedModel):
    """Never answers; `asked` is set once somebody waits."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def generate(self, request: ModelRequest) -> Answer:
        self.asked.set()
        await asyncio.Event().wait()
        return await super().generate(request)


def notes(raw: str = "prefers tabs", *, summary: str = "A summary.", slug: str = "notes") -> dict[str, str]:
    """What phase 1 answers."""
    return {"rollout_summary": summary, "rollout_slug": slug, "raw_memory": raw}


def merges(index: str = "# Index\n", summary: str = "- prefers tabs\n") -> list[Says]:
    """What phase 2 does, once, and what it says then for ever."""
    return [writes(("MEMORY.md", index), ("memory_summary.md", summary)), "Merged."]


def writes(*files: tuple[str, str]) -> ModelResponse:
    """An answer that writes files."""
    calls = [call("write_file", f"call_{n}", path=path, content=text) for n, (path, text) in enumerate(files)]
    return ModelResponse(output=calls)


def prompt_of(request: ModelRequest) -> str:
    """All that a model was told and asked."""
    return "\n".join([request.instructions, *(text_of(item) for item in request.input)])


def text_of(item: Item) -> str:
    output = item.get("output")
    return output if isinstance(output, str) else message_text(item)


def outputs_of(request: ModelRequest) -> list[str]:
    """What tools answered, as a model was told."""
    return [text_of(item) for item in request.input if item.get("type") == "function_call_output"]


def lines_of(sandbox: LocalSandboxSession, path: str) -> list[dict[str, object]]:
    """The segments of a conversation file, which must end with a newline."""
    text = (sandbox.root / path).read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def files_of(sandbox: LocalSandboxSession, below: str = "") -> list[str]:
    """All files of a workspace, unfinished ones included."""
    paths = (path for path in sandbox.root.rglob("*") if not path.is_dir())
    names = sorted(path.relative_to(sandbox.root).as_posix() for path in paths)
    return [name for name in names if name.startswith(below)]


def text_in(sandbox: LocalSandboxSession, path: str) -> str:
    return (sandbox.root / path).read_text(encoding="utf-8")


def seen_by(models: Sequence[ScriptedModel]) -> str:
    return "\n".join(prompt_of(request) for model in models for request in model.requests)
