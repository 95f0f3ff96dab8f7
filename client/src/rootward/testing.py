"""Stand-ins that answer as they were told, and remember what they were asked: for tests of your agents and hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import httpx2

from rootward.models import Answer, ModelRequest, ModelResponse

Says: TypeAlias = Answer | BaseException | Callable[[ModelRequest], "Says"]
"""An answer; an error to raise; or a function of the request that gives either."""


class NothingScripted(AssertionError):
    """The script does not say what is answered to this request."""


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


class ScriptedService:
    """Answers requests as a service would, by method and path.

    Args:
        answers: what ``"GET /v1/sessions/s1"`` gives: JSON, or a state and JSON; the query string does not matter.

    Attributes:
        requests: every request, in order.

    >>> service = ScriptedService({"GET /a": {"n": 1}, "PUT /a": (409, {"_tag": "Conflict"})})
    >>> service.http().get("http://rootward.test/a").json(), service.http().put("http://rootward.test/a").status_code
    ({'n': 1}, 409)
    """

    def __init__(self, answers: Mapping[str, object]) -> None:
        self.requests: list[httpx2.Request] = []
        self._answers = dict(answers)

    def http(self) -> httpx2.Client:
        """Return what `rootward.service.Client` takes as `http`."""
        return httpx2.Client(transport=httpx2.MockTransport(self._answer))

    def async_http(self) -> httpx2.AsyncClient:
        """Return what `rootward.service.AsyncClient` takes as `http`."""
        return httpx2.AsyncClient(transport=httpx2.MockTransport(self._answer))

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        asked = f"{request.method} {request.url.path}"
        if asked not in self._answers:
            raise NothingScripted(f"give ScriptedService() an answer for {asked}")
        found = self._answers[asked]
        status, body = found if isinstance(found, tuple) else (200, found)
        return httpx2.Response(status, json=body)
