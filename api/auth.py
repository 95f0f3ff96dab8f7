"""From the ``Authorization`` header to a `Caller`; nothing else in a request names one (AD-13).

Failures are counted per address and slowed down (AD-11); a valid credential never waits (ADR 0049). OIDC tokens of
people are handed to a verifier if there is one (AD-12).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from graph.model.errors import TooManyAttempts, Unauthenticated
from graph.model.time import Millis
from graph.services.access.caller import Caller
from graph.services.access.tokens import authenticate, refused
from graph.services.deps import Deps

MAX_FAILURES = 10
WINDOW_MS = 60_000
MAX_ADDRESSES = 10_000
MAX_CREDENTIAL = 8_192


@dataclass(kw_only=True, slots=True)
class FailureThrottle:
    """Counts failed sign-ins of each address over the last minute; old addresses are forgotten."""

    _failures: OrderedDict[str, deque[Millis]] = field(default_factory=OrderedDict)

    def failed(self, address: str, now: Millis) -> None:
        """Note a failure; one more than there may be is refused and makes nobody wait longer.

        Raises:
            TooManyAttempts: `retry_after_s` says when to try again.
        """
        recent = self._recent(address, now)
        if len(recent) >= MAX_FAILURES:
            wait_s = max(1, -(-(recent[0] + WINDOW_MS - now) // 1_000))
            raise TooManyAttempts("too many failed sign-ins: wait and try again", retry_after_s=wait_s)
        recent.append(now)

    def _recent(self, address: str, now: Millis) -> deque[Millis]:
        times = self._failures.setdefault(address, deque())
        self._failures.move_to_end(address)
        while len(self._failures) > MAX_ADDRESSES:
            self._failures.popitem(last=False)
        while times and times[0] <= now - WINDOW_MS:
            times.popleft()
        return times


Verifier = Callable[[str], Awaitable[Caller]]
"""Turns a credential that is not one of our tokens into a caller; raises `Unauthenticated`."""


@dataclass(kw_only=True, slots=True)
class Authenticator:
    """Tells who sent a credential."""

    deps: Deps
    oidc: Verifier | None = None
    throttle: FailureThrottle = field(default_factory=FailureThrottle)

    async def caller(self, authorization: str | None, address: str) -> Caller:
        """Return the caller that the header ``Authorization: Bearer …`` names.

        Raises:
            Unauthenticated: no valid credential; all reasons look alike.
            TooManyAttempts: no valid credential either, after ten failures within a minute from this address.
        """
        try:
            return await self._verify(_bearer(authorization))
        except Unauthenticated:
            self.deps.figures.count("sign_in_failed")
            self.throttle.failed(address, self.deps.now())
            raise

    async def _verify(self, credential: str) -> Caller:
        if self.oidc is not None and not credential.startswith("rw_"):
            return await self.oidc(credential)
        return await authenticate(self.deps, credential)


def _bearer(authorization: str | None) -> str:
    scheme, _, credential = (authorization or "").strip().partition(" ")
    if scheme.lower() != "bearer" or not 1 <= len(credential) <= MAX_CREDENTIAL:
        raise refused()
    return credential.strip()
