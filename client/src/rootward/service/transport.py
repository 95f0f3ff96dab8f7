"""The two senders: thin shells over an HTTP client, one for threads and one for tasks."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any, TypeVar

import httpx2

from rootward.service.calls import Call, Lost, Reply
from rootward.service.retries import Retries

T = TypeVar("T")


def checked_address(base_url: str) -> str:
    """Return the address of a service without the ``/`` at its end.

    Raises:
        ValueError: it is no address of a web server.

    >>> checked_address("https://rootward.example/")
    'https://rootward.example'
    """
    if not re.match(r"https?://[^/?#]", base_url):
        raise ValueError("base_url begins with http:// or https://, such as https://rootward.example")
    return base_url.rstrip("/")


def checked_token(token: str) -> str:
    """Return the token as it is.

    Raises:
        ValueError: no token is such a text.
    """
    if not (token.isascii() and token.isprintable()):
        raise ValueError("a token is printable ASCII, rw_…: read it without the end of its line")
    return token


class Sender:
    """Sends calls and waits in the thread."""

    def __init__(
        self, base_url: str, token: str, http: httpx2.Client, retries: Retries, sleep: Callable[[float], None]
    ) -> None:
        self._base_url, self._token = checked_address(base_url), checked_token(token)
        self._http, self._retries, self._sleep = http, retries, sleep

    def send(self, call: Call[T]) -> T:
        """Send a call, again where that is safe, and return what its answer means."""
        for repeated in count():
            outcome = self._outcome(call)
            pause = self._retries.pause(call, repeated, outcome)
            if pause is None:
                break
            self._sleep(pause)
        return call.finish(outcome)

    def _outcome(self, call: Call[Any]) -> Reply | Lost:
        try:
            return _reply(self._http.request(**_request(self._base_url, self._token, call)))
        except httpx2.RequestError as error:
            return Lost(problem=type(error).__name__)


class AsyncSender:
    """Sends calls and waits in the task."""

    def __init__(
        self,
        base_url: str,
        token: str,
        http: httpx2.AsyncClient,
        retries: Retries,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._base_url, self._token = checked_address(base_url), checked_token(token)
        self._http, self._retries, self._sleep = http, retries, sleep

    async def send(self, call: Call[T]) -> T:
        """Send a call, again where that is safe, and return what its answer means."""
        for repeated in count():
            outcome = await self._outcome(call)
            pause = self._retries.pause(call, repeated, outcome)
            if pause is None:
                break
            await self._sleep(pause)
        return call.finish(outcome)

    async def _outcome(self, call: Call[Any]) -> Reply | Lost:
        try:
            return _reply(await self._http.request(**_request(self._base_url, self._token, call)))
        except httpx2.RequestError as error:
            return Lost(problem=type(error).__name__)


def _request(base_url: str, token: str, call: Call[Any]) -> dict[str, Any]:
    headers = {"Accept": "application/json", "Authorization": f"Bearer {token}", **call.ask.headers}
    if call.content is not None:
        headers["Content-Type"] = "application/json"
    return {"method": call.route.method, "url": f"{base_url}{call.path}", "headers": headers, "content": call.content}


def _reply(response: httpx2.Response) -> Reply:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Reply(status=response.status_code, headers=headers, body=response.content)
