"""The built files of the console, as answers: the page with a fresh nonce, hashed files for good, others checked.

Any path below /console that names no file is one of the console's own pages and gets the page: the browser decides
what it shows. Files are looked up at each request, so that a new build is there without a restart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from mimetypes import guess_type
from pathlib import Path
from stat import S_ISREG
from typing import Final

import anyio
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles

from api.console.policy import NONCE_MARK, headers, new_nonce

INDEX: Final = "index.html"
ASSETS: Final = "assets/"
"""The folder of files whose names change with their content."""
FOR_GOOD: Final = "public, max-age=31536000, immutable"
CHECKED: Final = "no-cache"
NEVER_KEPT: Final = "no-store"
ENCODINGS: Final = (("br", ".br"), ("gzip", ".gz"))
"""In order of preference; the packed file lies beside the plain one."""
TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
"""Of what a build holds: the table of the machine does not know all of them everywhere."""
NOT_BUILT: Final = """<!doctype html>
<html lang="en"><title>Rootward: the console is not built</title>
<h1>The console is not built</h1>
<p>The server runs; only its web pages are missing. Build them with <code>make console</code> in the folder of the
source, then load this page again. The package and the image bring them along.</p>
<p>Everything else is there: GraphQL at <code>/graphql</code>, REST at <code>/openapi.json</code>.</p>
</html>
"""
_QUALITY_0 = re.compile(r"0(\.0{0,3})?")


@dataclass(frozen=True, kw_only=True, slots=True)
class BuiltFiles:
    """Answers from the folder of one build.

    Attributes:
        connect: further origins that the page may ask.
    """

    folder: Path
    connect: Sequence[str] = ()
    _static: StaticFiles = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_static", StaticFiles(directory=self.folder, check_dir=False))

    async def __call__(self, request: Request) -> Response:
        """Return the file that the path names, else the page."""
        return await anyio.to_thread.run_sync(self._answer, request)

    def _answer(self, request: Request) -> Response:
        path = request.path_params.get("path", "")
        if path in ("", INDEX):
            return self._page()
        found = self._file(path, request.headers)
        if found is not None:
            return found
        if path.startswith(ASSETS):
            return PlainTextResponse("no such file", 404, headers={**headers(), "Cache-Control": NEVER_KEPT})
        return self._page()

    def _page(self) -> Response:
        index = self.folder / INDEX
        if not index.is_file():
            return HTMLResponse(NOT_BUILT, 503, headers={**headers(), "Cache-Control": NEVER_KEPT})
        nonce = new_nonce()
        text = index.read_text(encoding="utf-8").replace(NONCE_MARK, nonce)
        return HTMLResponse(text, headers={**headers(nonce, self.connect), "Cache-Control": NEVER_KEPT})

    def _file(self, path: str, asked: Headers) -> Response | None:
        if self._stat(path) is None:
            return None
        accepted = asked.get("accept-encoding", "")
        encoding, end = next(
            (one for one in ENCODINGS if accepts(accepted, one[0]) and self._stat(path + one[1])), ("", "")
        )
        sent = {
            **headers(),
            "Cache-Control": FOR_GOOD if path.startswith(ASSETS) else CHECKED,
            "Vary": "Accept-Encoding",
            **({"Content-Encoding": encoding} if encoding else {}),
        }
        full, stat = self._static.lookup_path(path + end)
        response = FileResponse(full, stat_result=stat, headers=sent, media_type=type_of(path))
        if self._static.is_not_modified(response.headers, asked):
            return NotModifiedResponse(response.headers)
        return response

    def _stat(self, path: str) -> int | None:
        """Return the size of a file of the build; None for what is none or lies elsewhere."""
        try:
            _, stat = self._static.lookup_path(path)
        except (OSError, ValueError):  # names that no file can have
            return None
        return stat.st_size if stat is not None and S_ISREG(stat.st_mode) else None


def accepts(header: str, encoding: str) -> bool:
    """True if a client that sends this `Accept-Encoding` takes an encoding by its name.

    >>> accepts("gzip, br;q=0.8", "br"), accepts("br;q=0", "br"), accepts("*", "br"), accepts("", "gzip")
    (True, False, False, False)
    """
    for part in header.lower().split(","):
        name, _, quality = (piece.strip() for piece in part.partition(";"))
        if name == encoding:
            return not _QUALITY_0.fullmatch(quality.removeprefix("q=").strip())
    return False


def type_of(path: str) -> str:
    """Return the media type of a file by the end of its name."""
    return TYPES.get(Path(path).suffix) or guess_type(path)[0] or "application/octet-stream"
