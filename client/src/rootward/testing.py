"""A model that says what it was told to say, and remembers what it was asked: for tests of your agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from rootward.models import Answer, ModelRequest, ModelResponse

Says: TypeAlias = Answer | BaseException | Callable[[ModelRequest], "Says"]
"""An answer; an error to raise; or a function of the request that gives either."""


class NothingScripted(AssertionError):
    """The script does not say what the model answers to this request."""


class ScriptedModel:
    """Answers in order, each once; the last one for ever.

    Attributes:
        requests: every request, in order.

    >>> import asyncio
    >>> model = ScriptedModel("one", "two")
    >>> [asyncio.run(model.generate(ModelRequest(instructions="", input=[]))) for _ in range(3)]
    ['one', 'two', 'two']
    """

    def __init__(self, *says: Says) -> None:
        self.requests: list[ModelRequest] = []
        self._says = list(says)

    async def generate(self, request: ModelRequest) -> Answer:
        """Return or raise what comes next."""
        self.requests.append(request)
        if not self._says:
            raise NothingScripted("give ScriptedModel() an answer for this request")
        says = self._says.pop(0) if len(self._says) > 1 else self._says[0]
        while not isinstance(says, str | ModelResponse | Mapping | BaseException):
            says = says(request)
        if isinstance(says, BaseException):
            raise says
        return says
