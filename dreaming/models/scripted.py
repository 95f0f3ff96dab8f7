"""A model that says what a test told it to say, and remembers what it was asked. Source: DR-9."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dreaming.models.port import Finish, ModelAnswer, ModelRequest, ModelUnavailable
from graph.model.fields import Json

Says = str | Json | ModelAnswer | Exception | Callable[[ModelRequest], "Says"]
"""A text; a JSON value (written as text); a whole answer; an error to raise; or a function of the request."""
When = str | Callable[[ModelRequest], bool]
"""A purpose, or the beginning of one that ends with ``*``; or a predicate."""


class NothingScripted(AssertionError):
    """A test forgot to say what the model answers to this."""


@dataclass
class _Line:
    when: When
    says: list[Says]
    last_stays: bool


@dataclass
class ScriptedModel:
    """Answers by purpose or predicate: each answer of a line once, in order, the last one for ever if it should stay.

    Attributes:
        asked: every request, in order.
    """

    name: str = "scripted"
    asked: list[ModelRequest] = field(default_factory=list)
    _lines: list[_Line] = field(default_factory=list)

    def on(self, when: When, *says: Says, last_stays: bool = True) -> ScriptedModel:
        """Answer requests that fit with these, one after another; lines said later are looked at first."""
        self._lines.insert(0, _Line(when, list(says), last_stays))
        return self

    def asked_for(self, when: When) -> list[ModelRequest]:
        """Return the requests that fit, in order."""
        return [request for request in self.asked if _fits(when, request)]

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return what was scripted; raises what was scripted to be raised, or `NothingScripted`."""
        self.asked.append(request)
        return _answer(self._next(request), request, self.name)

    def _next(self, request: ModelRequest) -> Says:
        for line in self._lines:
            if line.says and _fits(line.when, request):
                return line.says[0] if line.last_stays and len(line.says) == 1 else line.says.pop(0)
        raise NothingScripted(f"no answer is scripted for {request.purpose}")


def _fits(when: When, request: ModelRequest) -> bool:
    if callable(when):
        return when(request)
    return request.purpose.startswith(when[:-1]) if when.endswith("*") else request.purpose == when


def _answer(says: Says, request: ModelRequest, model: str) -> ModelAnswer:
    if callable(says):
        return _answer(says(request), request, model)
    if isinstance(says, Exception):
        raise says
    if isinstance(says, ModelAnswer):
        return says
    text = says if isinstance(says, str) else json.dumps(says, ensure_ascii=False)
    return ModelAnswer(text=text, input_tokens=_tokens(request), output_tokens=len(text) // 4, model=model)


def _tokens(request: ModelRequest) -> int:
    return sum(len(message.text) for message in request.messages) // 4


def cut(text: str, *, model: str = "scripted") -> ModelAnswer:
    """Return an answer that ended at its limit of tokens."""
    return ModelAnswer(text=text, output_tokens=len(text) // 4, finish=Finish.LENGTH, model=model)


def fails(reason: str, times: int = 1) -> Sequence[ModelUnavailable]:
    """Return so many failures of this reason, to script with ``*fails("timeout", 3)``."""
    return [ModelUnavailable(reason) for _ in range(times)]
