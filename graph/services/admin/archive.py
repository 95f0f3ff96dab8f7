"""One portable archive of everything: rows as JSON Lines, blobs, the audit for the offline verifier, a manifest.

Importing it into an empty store of either kind gives equal answers to equal readers. Rows are carried as they are,
ids, versions, hashes and audiences included; only what is merely under way stays behind: jobs that were due or
running, so that nothing starts by itself on old data. Source: AD-41.

| File | Content |
|---|---|
| manifest.json | format, versions, and hash, size and lines of every other file |
| nodes, edges, guards, audiences, texts (.jsonl) | the rows of the store |
| audit.jsonl, administration.jsonl, anchors.jsonl | the audit once more, in the form of the offline verifier |
| blobs/<sha256> | original files |
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from graph.model.errors import ArchiveInvalid, BadInput, NotFound
from graph.model.fields import Node
from graph.model.nodes.evidence import Source
from graph.model.nodes.learning import Connector
from graph.model.nodes.people import Workspace
from graph.model.nodes.sandbox import SandboxPart
from graph.model.nodes.work import AdminRecord, Anchor, AuditRecord, Job
from graph.model.schema import SCHEMA_VERSION
from graph.model.time import render
from graph.ports import BlobStore
from graph.rules.admin_chain import export_step
from graph.rules.audit_chain import SealedAudit
from graph.rules.connectors import ConnectorState
from graph.services.admin.archive_files import (
    BLOBS,
    LineFile,
    check_file,
    encoded,
    lines_of,
    read_manifest,
    reading,
    write_manifest,
    writing,
)
from graph.services.admin.archive_forms import of_today
from graph.services.admin.archive_keys import check_keys
from graph.services.admin.archive_rows import NODES, PARTS, Row, from_line, part_of, to_line
from graph.services.admin.keys import agreed_key
from graph.services.deps import Deps
from graph.services.knowledge.anchors import sealed_anchor

FORMAT = "rootward-archive"
VERSION = 1
AUDIT = "audit.jsonl"
ADMINISTRATION = "administration.jsonl"
ANCHORS = "anchors.jsonl"
_SHOWN: Mapping[str, type[Node]] = {AUDIT: AuditRecord, ADMINISTRATION: AdminRecord}
"""Copies of nodes for the offline verifier; archives of the first form have no administration."""

UNDER_WAY = frozenset({"queued", "running"})
"""States of jobs that stay behind."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArchiveReceipt:
    """What an archive holds.

    Attributes:
        rows: number of rows by part.
        blobs: number of original files.
        missing_blobs: addresses that a source names and the blob store does not have.
        jobs_left_out: jobs of an import that were due or running.
    """

    rows: Mapping[str, int]
    blobs: int
    missing_blobs: tuple[str, ...] = ()
    jobs_left_out: int = 0


@dataclass(kw_only=True, slots=True)
class _Gathered:
    """What is noted while rows pass by: where the audit stands, and which blobs are named."""

    audit: list[tuple[str, int, str, int, int]] = field(default_factory=list)
    steps: list[tuple[str, int, Mapping[str, Any]]] = field(default_factory=list)
    anchors: list[tuple[str, int, Mapping[str, Any]]] = field(default_factory=list)
    blobs: set[str] = field(default_factory=set)


async def export_archive(deps: Deps, target: Path) -> ArchiveReceipt:
    """Write everything in one consistent state to `target`: a folder, or one file if it ends in ``.tar(.gz)``.

    Raises:
        BadState: there is something at `target` already.
    """
    with writing(target) as folder:
        files, gathered = await _write_rows(deps, folder)
        files |= await asyncio.to_thread(_write_audit, folder, gathered)
        blobs, missing = await _write_blobs(deps.blobs, folder, gathered.blobs)
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "schema_version": SCHEMA_VERSION,
            "created_at": render(deps.now()),
            "files": files,
            "blobs": blobs,
            "missing_blobs": missing,
        }
        await asyncio.to_thread(write_manifest, folder, manifest)
    rows = {part: files[f"{part}.jsonl"]["lines"] for part in PARTS}
    return ArchiveReceipt(rows=rows, blobs=len(blobs), missing_blobs=tuple(missing))


async def import_archive(deps: Deps, source: Path) -> ArchiveReceipt:
    """Load an archive into an empty store, or once more into the store that it was loaded into.

    Everything is checked by its hash before anything is written; the rows are loaded all or none.

    Raises:
        ArchiveInvalid: damaged, incomplete, of a newer form, or no archive.
        BadState: the store holds other data.
        StoreKeyMissing: the keyring lacks a key that something in the archive is sealed with; details: `key_id`.
    """
    with ExitStack() as stack:
        folder = await asyncio.to_thread(stack.enter_context, reading(source))
        manifest = await asyncio.to_thread(_checked, folder)
        version = int(manifest["schema_version"])
        nodes = (of_today(line, version) for line in lines_of(folder, f"{NODES}.jsonl"))
        await asyncio.to_thread(check_keys, nodes, deps.vault.keyring)
        for address in manifest["blobs"]:
            data = await asyncio.to_thread((folder / BLOBS / address).read_bytes)
            await deps.blobs.put(data)
        loading = _Loading(folder=folder, deps=deps, schema_version=version)
        await deps.store.import_rows(loading.rows())
    return ArchiveReceipt(
        rows=loading.counts,
        blobs=len(manifest["blobs"]),
        missing_blobs=tuple(manifest.get("missing_blobs", ())),
        jobs_left_out=loading.jobs_left_out,
    )


async def check_archive(source: Path) -> Mapping[str, Any]:
    """Return the manifest of an archive whose files all have their hashes.

    Raises:
        ArchiveInvalid: as for `import_archive`.
    """
    with ExitStack() as stack:
        folder = await asyncio.to_thread(stack.enter_context, reading(source))
        return await asyncio.to_thread(_checked, folder)


async def _write_rows(deps: Deps, folder: Path) -> tuple[dict[str, Any], _Gathered]:
    files = {part: LineFile(folder / f"{part}.jsonl") for part in PARTS}
    gathered = _Gathered()
    async for row in deps.store.export_rows():
        part = part_of(row)
        place = files[part].write(to_line(row))
        if isinstance(row, Node):
            _note(gathered, row, place)
    return {f"{part}.jsonl": file.close() for part, file in files.items()}, gathered


def _note(gathered: _Gathered, node: Node, place: tuple[int, int]) -> None:
    match node:
        case AuditRecord():
            gathered.audit.append((node.pool or "", node.seq, node.id, *place))
        case AdminRecord():
            gathered.steps.append((node.workspace, node.seq, export_step(node)))
        case Anchor():
            gathered.anchors.append((node.workspace, node.seq, sealed_anchor(node).to_export()))
        case Source() | SandboxPart() if node.blob_ref:
            gathered.blobs.add(node.blob_ref)


def _write_audit(folder: Path, gathered: _Gathered) -> dict[str, Any]:
    """Write the audit in the order of its chains, by reading the written records once more."""
    audit, steps, anchors = (LineFile(folder / name) for name in (AUDIT, ADMINISTRATION, ANCHORS))
    with (folder / f"{NODES}.jsonl").open("rb") as nodes:
        for _, _, _, offset, length in sorted(gathered.audit):
            nodes.seek(offset)
            audit.write(_exported(nodes.read(length)))
    for _, _, line in sorted(gathered.steps, key=lambda found: found[:2]):
        steps.write(line)
    for _, _, line in sorted(gathered.anchors, key=lambda found: found[:2]):
        anchors.write(line)
    return {AUDIT: audit.close(), ADMINISTRATION: steps.close(), ANCHORS: anchors.close()}


def _exported(data: bytes) -> Mapping[str, Any]:
    row = from_line(NODES, json.loads(data))
    assert isinstance(row, AuditRecord)
    return SealedAudit.from_node(row).to_export()


async def _write_blobs(blobs: BlobStore, folder: Path, wanted: set[str]) -> tuple[list[str], list[str]]:
    written, missing = [], []
    for address in sorted(wanted):
        try:
            data = await blobs.read(address)
        except NotFound:
            missing.append(address)
            continue
        await asyncio.to_thread((folder / BLOBS / address).write_bytes, data)
        written.append(address)
    return written, missing


def _checked(folder: Path) -> Mapping[str, Any]:
    manifest = read_manifest(folder)
    if manifest.get("format") != FORMAT or not isinstance(manifest.get("files"), dict):
        raise ArchiveInvalid("this is no archive of Rootward", part="manifest.json")
    if manifest.get("version") != VERSION or manifest.get("schema_version", SCHEMA_VERSION + 1) > SCHEMA_VERSION:
        raise ArchiveInvalid("a newer version of Rootward made the archive: import it with that", part="manifest.json")
    files = manifest["files"]
    shown = _SHOWN if manifest["schema_version"] > 1 else (AUDIT,)
    for name in (*(f"{part}.jsonl" for part in PARTS), *shown, ANCHORS):
        check_file(folder, name, (files.get(name) or {}).get("sha256"))
    for address in manifest.get("blobs", ()):
        check_file(folder, f"{BLOBS}/{address}", address)
    for name in shown:
        _check_audit(folder, name)
    return manifest


def _check_audit(folder: Path, name: str) -> None:
    """Refuse an archive whose two copies of the audit differ: the verifier must judge what is imported."""
    shown = {_fingerprint(line) for line in lines_of(folder, name)}
    kept = {_fingerprint(_as_audit(line)) for line in _audit_nodes(folder, _SHOWN[name])}
    if shown != kept:
        raise ArchiveInvalid("the audit of the archive is not that of its nodes: use another copy", part=name)


def _fingerprint(line: Mapping[str, Any]) -> bytes:
    return hashlib.sha256(encoded(line)).digest()


def _audit_nodes(folder: Path, kind: type[Node]) -> Iterator[Mapping[str, Any]]:
    return (line for line in lines_of(folder, f"{NODES}.jsonl") if line.get("class") == kind.__name__)


def _as_audit(line: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        row = from_line(NODES, line)
    except BadInput as error:
        raise ArchiveInvalid("a line of the archive is no row of this kind", part=f"{NODES}.jsonl") from error
    if isinstance(row, AdminRecord):
        return export_step(row)
    assert isinstance(row, AuditRecord)
    return SealedAudit.from_node(row).to_export()


@dataclass(kw_only=True, slots=True)
class _Loading:
    """The rows of an archive in the order of loading, counted."""

    folder: Path
    deps: Deps
    schema_version: int
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARTS, 0))
    jobs_left_out: int = 0

    async def rows(self) -> AsyncIterator[Row]:
        for part in PARTS:
            for row in self._part(part):
                if isinstance(row, Job) and row.state in UNDER_WAY:
                    self.jobs_left_out += 1
                    continue
                self.counts[part] += 1
                yield await self._named(row) if isinstance(row, Workspace) else _at_rest(row)

    async def _named(self, workspace: Workspace) -> Workspace:
        """Let a workspace name the key that seals here, as each start of the service does."""
        return replace(workspace, key_id=await asyncio.to_thread(agreed_key, self.deps, workspace))

    def _part(self, part: str) -> Iterator[Row]:
        for line in lines_of(self.folder, f"{part}.jsonl"):
            try:
                yield from_line(part, of_today(line, self.schema_version))
            except BadInput as error:
                raise ArchiveInvalid("a line of the archive is no row of this kind", part=f"{part}.jsonl") from error


def _at_rest(row: Row) -> Row:
    """Return a row as it is loaded: a connector does not begin to look at its place by itself (AD-41)."""
    if isinstance(row, Connector) and row.state == ConnectorState.ACTIVE:
        return replace(row, state=str(ConnectorState.PAUSED))
    return row
