"""A model and its tools, turn by turn, until it has nothing more to call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rootward.errors import MaxTurnsExceeded, PathRefused, ToolError
from rootward.models import Item, Model, ModelRequest, Tool, ask


@dataclass(kw_only=True)
class Loop:
    """One run of a model with tools.

    Attributes:
        max_turns: answers of the model, at most.
        generated: what the run added so far, in order; whole also after an exception.
    """

    model: Model
    instructions: str
    tools: Sequence[Tool]
    max_turns: int
    generated: list[Item] = field(default_factory=list)

    async def go(self, given: Sequence[Item]) -> str | None:
        """Return the text of the last answer; None if calls wait for approval.

        Args:
            given: the conversation so far.

        Raises:
            MaxTurnsExceeded: the model still calls tools.
        """
        for _ in range(self.max_turns):
            request = ModelRequest(
                instructions=self.instructions, input=[*given, *self.generated], tools=tuple(self.tools)
            )
            response = await ask(self.model, request)
            self.generated += response.output
            if not response.calls:
                return response.text or ""
            if await self._waits(response.calls):
                return None
        raise MaxTurnsExceeded(f"the model still called tools after {self.max_turns} turns")

    async def settle(self, call: Item, *, approved: bool) -> None:
        """Make a call that waited, or tell the model that it was refused."""
        self._answer(call, await self._output(call) if approved else "error: the call was refused")

    async def _waits(self, calls: Sequence[Item]) -> bool:
        """Make the calls that need nobody; tell whether others wait."""
        waiting = [call for call in calls if self._needs_approval(call)]
        for call in calls:
            if call not in waiting:
                self._answer(call, await self._output(call))
        return bool(waiting)

    def _needs_approval(self, call: Item) -> bool:
        tool = self._tool(call)
        return tool is not None and tool.needs_approval

    def _tool(self, call: Item) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == call.get("name")), None)

    async def _output(self, call: Item) -> str:
        tool = self._tool(call)
        if tool is None:
            return f"error: there is no tool {call.get('name')!r}"
        try:
            return await tool.invoke(_arguments(call))
        except ToolError as error:
            return f"error: {error}"

    def _answer(self, call: Item, output: str) -> None:
        self.generated.append({"type": "function_call_output", "call_id": call.get("call_id"), "output": output})


def unanswered(items: Sequence[Item]) -> list[Item]:
    """Return the calls that have no result, in order."""
    answered = [item.get("call_id") for item in items if item.get("type") == "function_call_output"]
    return [item for item in items if item.get("type") == "function_call" and item.get("call_id") not in answered]


def text_argument(arguments: Mapping[str, object], name: str) -> str:
    """Return an argument that must be a text.

    Raises:
        ToolError: it is missing or something else.
    """
    value = arguments.get(name)
    if not isinstance(value, str):
        raise ToolError(f"{name} must be a text")
    return value


@contextmanager
def telling() -> Iterator[None]:
    """Tell the model what the storage says to a path, instead of ending the run."""
    try:
        yield
    except PathRefused as error:
        raise ToolError(str(error)) from error
    except OSError as error:
        raise ToolError(error.strerror or "the storage failed") from error


def text_parameters(*required: str, optional: Sequence[str] = (), **described: str) -> dict[str, object]:
    """Return the JSON schema of a tool whose arguments are texts."""
    return {
        "type": "object",
        "properties": {
            name: {"type": "string", **({"description": described[name]} if name in described else {})}
            for name in (*required, *optional)
        },
        "required": list(required),
        "additionalProperties": False,
    }


def _arguments(call: Item) -> Mapping[str, object]:
    raw = call.get("arguments")
    try:
        value = json.loads(raw) if isinstance(raw, str) else raw
    except (ValueError, RecursionError):
        raise ToolError("the arguments are no JSON") from None
    if not isinstance(value, Mapping):
        raise ToolError("the arguments must be a JSON object")
    return value
