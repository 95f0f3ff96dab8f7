"""The files of an archive: a folder, or the same folder as ``.tar`` or ``.tar.gz``.

A folder is written beside its place and renamed once it is whole, so that a half written archive never bears the
name. All functions block; callers run them in a thread.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from graph.model.errors import ArchiveInvalid, BadState

MANIFEST = "manifest.json"
BLOBS = "blobs"
_NAME = re.compile(r"(?:\./)?((?:[a-z]+\.jsonl|manifest\.json)|blobs/[0-9a-f]{64})")
_CHUNK = 1 << 20


class LineFile:
    """A file of JSON objects, one a line, that knows its hash."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("wb")
        self._hash = hashlib.sha256()
        self.lines = 0
        self.size_bytes = 0

    def write(self, line: Mapping[str, Any]) -> tuple[int, int]:
        """Append a line; return its place: offset and length in bytes."""
        data = encoded(line)
        place = (self.size_bytes, len(data))
        self._file.write(data)
        self._hash.update(data)
        self.lines += 1
        self.size_bytes += len(data)
        return place

    def close(self) -> dict[str, Any]:
        """Sync, close and return what a manifest says of the file."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return {"sha256": self._hash.hexdigest(), "size_bytes": self.size_bytes, "lines": self.lines}


def encoded(line: Mapping[str, Any]) -> bytes:
    """Return a JSON object as a line of a file; equal objects give equal bytes."""
    return json.dumps(line, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def is_tar(target: Path) -> bool:
    """Tell by its name whether an archive is one file."""
    return target.name.endswith((".tar", ".tar.gz", ".tgz"))


@contextmanager
def writing(target: Path) -> Iterator[Path]:
    """Give a folder to write into; at the end it becomes the archive, on a failure nothing is left.

    Raises:
        BadState: there is something at `target` already.
    """
    if target.exists():
        raise BadState("there is a file or folder of this name already: choose another")
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        (folder / BLOBS).mkdir()
        yield folder
        _finish(folder, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def reading(source: Path) -> Iterator[Path]:
    """Give the folder of an archive; one that was packed is unpacked beside it for the time being.

    Raises:
        ArchiveInvalid: there is none, or it holds what no archive holds.
    """
    if source.is_dir():
        yield source
        return
    if not source.exists():
        raise ArchiveInvalid("there is no such file or folder", part=source.name)
    folder = Path(tempfile.mkdtemp(prefix="rootward-import-", dir=source.parent if source.parent.is_dir() else None))
    try:
        _unpack(source, folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_manifest(folder: Path) -> Mapping[str, Any]:
    """Return the manifest.

    Raises:
        ArchiveInvalid: missing, unreadable or of another form.
    """
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ArchiveInvalid("this is no archive of Rootward: its manifest cannot be read", part=MANIFEST) from error
    if not isinstance(found, dict) or not _is_manifest(found):
        raise ArchiveInvalid("this is no archive of Rootward: its manifest cannot be read", part=MANIFEST)
    return found


def _is_manifest(found: Mapping[str, Any]) -> bool:
    """Tell whether what a manifest has is of its kind; archives come from others, too."""
    files, blobs, version = found.get("files", {}), found.get("blobs", []), found.get("schema_version", 0)
    return (
        isinstance(files, dict)
        and all(isinstance(facts, dict) for facts in files.values())
        and isinstance(blobs, list)
        and all(isinstance(address, str) for address in blobs)
        and isinstance(version, int)
    )


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest, last of all files."""
    with (folder / MANIFEST).open("w", encoding="utf-8") as file:
        json.dump(manifest, file, ensure_ascii=False, sort_keys=True, indent=2)
        file.flush()
        os.fsync(file.fileno())


def check_file(folder: Path, name: str, sha256: object) -> None:
    """Return if the bytes of a file have the hash that the manifest gives.

    Raises:
        ArchiveInvalid: they do not, or the file is missing.
    """
    digest = hashlib.sha256()
    try:
        with (folder / name).open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise ArchiveInvalid("a file of the archive is missing: use another copy", part=name) from error
    if digest.hexdigest() != sha256:
        raise ArchiveInvalid("a file of the archive is damaged: use another copy", part=name)


def lines_of(folder: Path, name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects of a file.

    Raises:
        ArchiveInvalid: a line is no JSON object.
    """
    with (folder / name).open("rb") as file:
        for data in file:
            try:
                line = json.loads(data)
            except ValueError as error:
                raise ArchiveInvalid("a line of the archive is no JSON: use another copy", part=name) from error
            if not isinstance(line, dict):
                raise ArchiveInvalid("a line of the archive is no JSON object: use another copy", part=name)
            yield line


def _finish(folder: Path, target: Path) -> None:
    if not is_tar(target):
        folder.chmod(0o700)
        folder.rename(target)
        return
    packed = folder.with_name(f"{folder.name}.partial")
    try:
        mode = "w" if target.name.endswith(".tar") else "w:gz"
        with tarfile.open(packed, mode) as tar:  # type: ignore[call-overload]  # the mode is one of two literals
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    tar.add(path, arcname=str(path.relative_to(folder)), filter=_plain)
        packed.chmod(0o600)
        packed.rename(target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            packed.unlink()


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out who packed it and when, so that equal folders give equal archives."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    member.mode = 0o600
    return member


def _unpack(source: Path, folder: Path) -> None:
    try:
        with tarfile.open(source, "r:*") as tar:
            for member in tar:
                _unpack_one(tar, member, folder)
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise ArchiveInvalid("this is no archive of Rootward, or it is cut off", part=source.name) from error


def _unpack_one(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Unpack a file whose name an archive may hold; links, devices and other names are refused."""
    if member.isdir() and member.name in (".", "./", BLOBS, f"./{BLOBS}"):
        return
    match = _NAME.fullmatch(member.name)
    data = tar.extractfile(member) if match and member.isfile() else None
    if match is None or data is None:
        raise ArchiveInvalid("the archive holds a file that no archive of Rootward holds", part="tar")
    path = folder / match[1]
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        shutil.copyfileobj(data, file, _CHUNK)
