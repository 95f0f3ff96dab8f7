"""Keep bytes under their SHA-256, in a directory or an object store: the port `BlobStore`.

`obstore` reads, lists and deletes everywhere and writes to object stores. Its directory store renames a
finished file into place but does not sync it (0.12), so the directory is written here. Source: AD-32.
"""

import asyncio
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, from_url

from graph.model.errors import BadInput, BlobDamaged, NotFound, StoreUnavailable
from graph.model.time import Millis, from_datetime
from graph.ports import BlobRef

if TYPE_CHECKING:
    from collections.abc import Iterator

    from obstore import GetResult
    from obstore.store import ObjectStore

_PREFIX = "sha256"
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_IN_MEMORY = 8 * 1024 * 1024
_CHUNK = 1024 * 1024


class ObjectBlobs:
    """Bytes in any store of `obstore`: S3, GCS, Azure, memory.

    Every method raises `StoreUnavailable` if the store cannot be reached; nothing is then promised of a
    `put` or `delete`, which may be repeated.
    """

    def __init__(self, store: "ObjectStore") -> None:
        self._store = store

    async def put(self, data: bytes | AsyncIterator[bytes]) -> BlobRef:
        """Store bytes and return their name once they are durable.

        Equal bytes have equal names and are stored once; putting them again renews their time of
        modification, so that a collector with a grace time leaves them alone. Bytes above 8 MiB wait in a
        temporary file, not in memory.
        """
        with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as spool:
            ref = await _spool(data, spool)
            spool.seek(0)
            with _translated():
                await self._save(ref.sha256, spool)
        return ref

    async def open(self, sha256: str) -> AsyncIterator[bytes]:
        """Yield the bytes in chunks; the last one comes only if all of them have the right hash.

        Raises:
            NotFound: there are no such bytes.
            BlobDamaged: the bytes changed where they are kept.
        """
        with _translated():
            found = await obstore.get_async(self._store, _path(sha256))
        async for chunk in _verified(found, sha256):
            yield chunk

    async def read(self, sha256: str) -> bytes:
        """Return all bytes at once; errors as `open`."""
        return b"".join([chunk async for chunk in self.open(sha256)])

    async def exists(self, sha256: str) -> bool:
        """Tell whether there are such bytes; they are not read."""
        try:
            with _translated():
                await obstore.head_async(self._store, _path(sha256))
        except NotFound:
            return False
        return True

    async def delete(self, sha256: str) -> None:
        """Remove bytes; nothing happens if there are none."""
        with suppress(NotFound), _translated():
            await obstore.delete_async(self._store, _path(sha256))

    async def list(self) -> AsyncIterator[tuple[str, Millis]]:
        """Yield the name and time of modification of all bytes, in no order; for garbage collection."""
        with _translated():
            async for batch in obstore.list(self._store, _PREFIX):
                for meta in batch:
                    name = meta["path"].rpartition("/")[2]
                    if _SHA256.match(name):
                        yield name, from_datetime(meta["last_modified"])

    async def remove_stale_uploads(self, before: Millis) -> int:
        """Remove what writes that never ended left behind; object stores do so by a lifecycle rule."""
        return 0

    async def _save(self, sha256: str, spool: IO[bytes]) -> None:
        await obstore.put_async(self._store, _path(sha256), spool)


class DirectoryBlobs(ObjectBlobs):
    """Bytes in a directory of this machine, readable by its owner only.

    A file is complete, synced and in its place, and its directories are synced, before `put` returns.
    """

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._root = root.resolve()
        super().__init__(LocalStore(self._root))

    async def delete(self, sha256: str) -> None:
        await super().delete(sha256)
        folder = (self._root / _path(sha256)).parent
        if folder.exists():
            await asyncio.to_thread(_sync_folder, folder)

    async def remove_stale_uploads(self, before: Millis) -> int:
        return await asyncio.to_thread(self._remove_stale_uploads, before)

    async def _save(self, sha256: str, spool: IO[bytes]) -> None:
        await asyncio.to_thread(self._write, self._root / _path(sha256), spool)

    def _write(self, target: Path, spool: IO[bytes]) -> None:
        incoming = self._root / "incoming"
        for folder in (incoming, target.parent):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, temporary = tempfile.mkstemp(dir=incoming)
        try:
            with os.fdopen(descriptor, "wb") as file:
                shutil.copyfileobj(spool, file, _CHUNK)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        for folder in (target.parent, target.parent.parent, self._root):
            _sync_folder(folder)

    def _remove_stale_uploads(self, before: Millis) -> int:
        incoming = self._root / "incoming"
        old = [f for f in incoming.glob("*") if f.stat().st_mtime * 1_000 < before]
        for file in old:
            file.unlink(missing_ok=True)
        return len(old)


def open_blobs(url: str, **options: Any) -> ObjectBlobs:
    """Return the blob store that a setting names.

    Args:
        url: `file:///path`, `memory:///`, `s3://bucket/prefix`, `gs://…`, `az://…`.
        options: passed to the object store, such as `endpoint` or `region`.

    Raises:
        BadInput: no such kind of store, or wrong options.
    """
    if urlsplit(url).scheme == "file":
        return DirectoryBlobs(Path(url2pathname(urlsplit(url).path)))
    try:
        return ObjectBlobs(from_url(url, **options))
    except (BaseError, ValueError, TypeError) as error:
        raise BadInput("give the file store as file:///path, s3://bucket, gs://bucket or az://container") from error


def _path(sha256: str) -> str:
    if not _SHA256.match(sha256):
        raise NotFound("there are no bytes of this name")
    return f"{_PREFIX}/{sha256[:2]}/{sha256}"


async def _spool(data: bytes | AsyncIterator[bytes], spool: IO[bytes]) -> BlobRef:
    """Copy bytes to a temporary file and hash them on the way."""
    hasher, size = hashlib.sha256(), 0
    async for chunk in _chunks(data):
        hasher.update(chunk)
        size += len(chunk)
        await asyncio.to_thread(spool.write, chunk)
    return BlobRef(sha256=hasher.hexdigest(), size_bytes=size)


async def _chunks(data: bytes | AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if isinstance(data, bytes):
        yield data
        return
    async for chunk in data:
        yield chunk


async def _verified(found: "GetResult", sha256: str) -> AsyncIterator[bytes]:
    """Pass chunks on one behind, so that none completes the bytes before the hash is known."""
    hasher, held = hashlib.sha256(), b""
    with _translated():
        async for chunk in found.stream(min_chunk_size=_CHUNK):
            if held:
                yield held
            held = bytes(chunk)
            hasher.update(held)
    if hasher.hexdigest() != sha256:
        raise BlobDamaged("stored bytes do not have their hash any more; restore them from a backup")
    if held:
        yield held


@contextmanager
def _translated() -> "Iterator[None]":
    """Turn errors of the library and the disk into ours."""
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound("there are no bytes of this name") from error
    except (BaseError, OSError, ValueError) as error:  # the last: a date in a year that no calendar has
        raise StoreUnavailable("the file store failed; check its space and connection, then try again") from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
