"""Routes that read ids out of the path as it was sent, and take every method themselves (SM-28, SM-29)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote

from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

_TAIL: Final = ":path}"


class SurfaceRoute(Route):
    """A route that takes every method itself, and reads ids out of the path as it was sent.

    Each part between slashes is percent-decoded once, so ``a%2Fb`` is one id and never another route (SM-29). A last
    part such as ``{path:path}`` takes all that is left, as it was sent: its reader decodes it (FM-49).
    """

    def __init__(self, path: str, app: ASGIApp, methods: Iterable[str]) -> None:
        super().__init__(path, _Endpoint(app), methods=None)
        self.methods = set(methods)  # for the table of rights; the endpoint refuses the others in the right order
        self._parts = path.split("/")
        self._tail = self._parts.pop().removeprefix("{").removesuffix(_TAIL) if path.endswith(_TAIL) else ""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is for this route, with the ids of its path."""
        sent = _sent_path(scope).split("/") if scope["type"] == "http" else []
        known = len(self._parts)
        if len(sent) < known + bool(self._tail) or (len(sent) > known and not self._tail):
            return Match.NONE, {}
        sent, rest = sent[:known], sent[known:]
        pairs = [(part, unquote(given)) for part, given in zip(self._parts, sent, strict=True)]
        if any(part != given for part, given in pairs if not part.startswith("{")):
            return Match.NONE, {}
        ids = {part[1:-1]: given for part, given in pairs if part.startswith("{")}
        if self._tail:
            ids[self._tail] = "/".join(rest)
        return Match.FULL, {"endpoint": self.endpoint, "path_params": ids}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that matched."""
        await self.app(scope, receive, send)


class _Endpoint:
    """An application in a form that takes every method."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def _sent_path(scope: Scope) -> str:
    raw = scope.get("raw_path")
    path = quote(scope["path"]) if raw is None else raw.decode("latin-1")
    return path.removeprefix(scope.get("root_path", ""))
