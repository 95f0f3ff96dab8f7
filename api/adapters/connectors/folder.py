"""A folder of documents on the server's own disk or on a share that is mounted there.

Only folders inside those that the operator allows (`connectors.folders`): who administers a workspace must not be
able to read the server's files. Hidden files, names that are no UTF-8, and links that lead out of the folder, are left
out. Source: MA-19.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from graph.model.errors import BadInput, SyncFailed
from graph.model.fields import Json
from graph.model.time import within_years
from graph.ports import ListedDocument, Look, Loss, OpenedDocument
from graph.text.outside import has_surrogate

MAX_DOCUMENTS = 10_000
SUFFIXES = frozenset({".md", ".markdown", ".txt", ".html", ".htm", ".xhtml", ".pdf", ".docx", ".csv", ".tsv", ".json"})
"""Endings of what is looked at; the bytes decide what a file is."""
NOTHING_LIMITED = timedelta(0)


@dataclass(frozen=True, kw_only=True, slots=True)
class FolderPlaces:
    """Folders of documents.

    Options: `path`, a folder inside one of the allowed ones.

    Attributes:
        allowed: folders whose documents may be brought in; with none there are no folder connectors.
    """

    allowed: Sequence[Path]

    def check(self, options: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the options with the whole path.

        Raises:
            BadInput: no path is given, or it lies in no allowed folder.
        """
        path = options.get("path")
        if not isinstance(path, str) or not path.strip() or set(options) != {"path"}:
            raise BadInput("give the folder as path, and nothing else", field="options")
        try:
            self._inside(path)
        except SyncFailed:
            raise BadInput(
                "the operator allows no connector here: add the folder to connectors.folders", field="options"
            ) from None
        return {"path": path}

    async def look(self, options: Mapping[str, Json], *, max_bytes: int) -> Look:
        """Return the files of the folder and of those inside it, by path; a version is size and time of the file.

        Raises:
            SyncFailed: ``place_gone``, ``place_forbidden``, ``not_allowed``, ``too_many``.
        """
        root = self._inside(str(options["path"]))
        found = await asyncio.to_thread(_listed, root)
        return Look(documents=found, ask_for_others=NOTHING_LIMITED)

    async def open(self, options: Mapping[str, Json], external_id: str, *, max_bytes: int) -> OpenedDocument | Loss:
        """Return a file by its path below the folder.

        Raises:
            SyncFailed: the folder itself cannot be read (then its files are not lost), or ``too_large``, ``network``.
        """
        root = self._inside(str(options["path"]))
        return await asyncio.to_thread(_opened, root, external_id, max_bytes)

    def _inside(self, path: str) -> Path:
        root = Path(path).resolve()
        if not any(root == one or one in root.parents for one in (folder.resolve() for folder in self.allowed)):
            raise SyncFailed("not_allowed")
        return root


def _listed(root: Path) -> tuple[ListedDocument, ...]:
    _check_root(root)
    found = []
    for path in _files(root):
        try:
            facts = path.stat()
        except OSError:  # it went meanwhile, or may not be looked at: it is asked for by itself
            continue
        if not stat.S_ISREG(facts.st_mode) or not _stays_inside(path, root):
            continue
        if not os.access(path, os.R_OK):  # asked for by itself, it answers that it is forbidden
            continue
        found.append(ListedDocument(external_id=path.relative_to(root).as_posix(), version=_version(facts)))
        if len(found) > MAX_DOCUMENTS:
            raise SyncFailed("too_many")
    return tuple(sorted(found, key=lambda document: document.external_id))


def _files(root: Path) -> Iterator[Path]:
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(name for name in inner if _is_shown(name))
        for name in names:
            if _is_shown(name) and Path(name).suffix.lower() in SUFFIXES:
                yield Path(folder) / name


def _is_shown(name: str) -> bool:
    """Return whether a name counts: a document is known by its path, and no text can hold one that is no UTF-8."""
    return not name.startswith(".") and not has_surrogate(name)


def _opened(root: Path, external_id: str, max_bytes: int) -> OpenedDocument | Loss:
    path = root / external_id
    if ".." in Path(external_id).parts or Path(external_id).is_absolute() or not _stays_inside(path, root):
        return Loss.NOT_FOUND
    try:
        with path.open("rb") as file:
            facts = os.fstat(file.fileno())
            if facts.st_size > max_bytes:
                raise SyncFailed("too_large")
            body = file.read(max_bytes + 1)
    except FileNotFoundError:
        return _lost(root, Loss.NOT_FOUND)
    except PermissionError:
        return _lost(root, Loss.FORBIDDEN)
    except (IsADirectoryError, NotADirectoryError):
        return _lost(root, Loss.NOT_FOUND)
    except OSError:
        raise SyncFailed("network") from None
    if len(body) > max_bytes:
        raise SyncFailed("too_large")
    modified = within_years(facts.st_mtime_ns // 1_000_000)
    return OpenedDocument(version=_version(facts), body=body, filename=path.name, modified_at=modified)


def _lost(root: Path, loss: Loss) -> Loss:
    """Return the loss of a file, if its folder is still there: an unmounted share has lost no document."""
    _check_root(root)
    return loss


def _check_root(root: Path) -> None:
    try:
        os.listdir(root)
    except PermissionError:
        raise SyncFailed("place_forbidden") from None
    except OSError:
        raise SyncFailed("place_gone") from None


def _stays_inside(path: Path, root: Path) -> bool:
    try:
        return path.resolve().is_relative_to(root)
    except OSError:
        return False


def _version(facts: os.stat_result) -> str:
    return f"{facts.st_size}-{facts.st_mtime_ns}"
