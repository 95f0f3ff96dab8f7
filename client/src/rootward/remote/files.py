"""The files of a workspace in a service, as a session's `files`. Source: SB-117, SB-119."""

from __future__ import annotations

from typing import Final

from rootward.remote.wire import refusing
from rootward.sandbox.layout import clean_path
from rootward.service.failures import Conflict, InvalidRequest, NotFound, PreconditionFailed
from rootward.service.sandboxes import AsyncSandboxes, SandboxFile

_PRECONDITION_REQUIRED: Final = 428
_TRIES: Final = 16
"""How often a write is tried against others that write the same file meanwhile."""


class ServiceSandboxFiles:
    """Files of one session; a path that no local workspace would take is refused before anything is sent."""

    def __init__(self, sandboxes: AsyncSandboxes, session_id: str) -> None:
        self._sandboxes, self._id = sandboxes, session_id
        self._tags: dict[str, str] = {}

    async def read_text(self, path: str) -> str | None:
        """Return a file, bytes that are no UTF-8 replaced by U+FFFD; None if there is none."""
        found = await self._find(clean_path(path))
        return None if found is None else found.content

    async def write_text(self, path: str, text: str) -> None:
        """Replace a file, or make it, whatever somebody else wrote there meanwhile.

        Raises:
            Conflict: others kept writing it.
        """
        place, content = clean_path(path), text.encode("utf-8", "replace").decode()
        for _ in range(_TRIES):
            if await self._put(place, content):
                return
        raise Conflict("the file is written by others all the time", code="conflict")

    async def create(self, path: str, text: str) -> bool:
        """Make a file; return False and change nothing if there is one."""
        try:
            with refusing():
                made = await self._sandboxes.write_file(self._id, path, text)
        except InvalidRequest as error:
            if error.status != _PRECONDITION_REQUIRED:
                raise
            return False
        self._tags[path] = made.etag
        return True

    async def delete(self, path: str) -> None:
        """Delete a file; one that is not there is no error."""
        place = clean_path(path)
        for _ in range(_TRIES):
            found = await self._find(place)
            if found is None:
                return None
            try:
                with refusing():
                    return await self._sandboxes.delete_file(self._id, place, etag=found.etag)
            except (PreconditionFailed, NotFound):
                continue
        raise Conflict("the file is written by others all the time", code="conflict")

    async def paths(self, directory: str = "") -> list[str]:
        """Return the paths of all files below a directory, sorted."""
        prefix = f"{clean_path(directory)}/" if directory not in ("", ".") else None
        found, cursor = [], None
        while True:
            with refusing():
                page = await self._sandboxes.files(self._id, prefix=prefix, limit=100, cursor=cursor)
            found += [file.path for file in page.items]
            cursor = page.next_cursor
            if cursor is None:
                return sorted(found)

    async def _put(self, path: str, content: str) -> bool:
        """Write over the version that was seen last; False: there is another, whose tag is known now."""
        try:
            with refusing():
                made = await self._sandboxes.write_file(self._id, path, content, etag=self._tags.get(path))
        except PreconditionFailed:
            await self._find(path)
            return False
        except NotFound as error:
            self._keep_missing(error, path)
            return False
        except InvalidRequest as error:
            if error.status != _PRECONDITION_REQUIRED:
                raise
            await self._find(path)
            return False
        self._tags[path] = made.etag
        return True

    async def _find(self, path: str) -> SandboxFile | None:
        try:
            with refusing():
                found = await self._sandboxes.file(self._id, path)
        except NotFound as error:
            self._keep_missing(error, path)
            return None
        self._tags[path] = found.etag
        return found

    def _keep_missing(self, error: NotFound, path: str) -> None:
        """Forget the tag of a file that is gone; raise if it is the session that is."""
        if error.details.get("kind") != "sandbox_file":
            raise error
        self._tags.pop(path, None)
