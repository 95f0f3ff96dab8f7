"""Archives: out of one store, into an empty one of either kind, with equal answers to equal readers."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from api.adapters.blobs import open_blobs
from api.cli.verify_offline import main as verify_offline
from graph.model.access import SystemScope
from graph.model.errors import ArchiveInvalid, BadState
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Block, Entry
from graph.model.nodes.work import AuditRecord, Job
from graph.services.access.commands import command
from graph.services.access.session import Session, read
from graph.services.admin.archive import ArchiveReceipt, export_archive, import_archive
from graph.services.deps import Deps
from graph.services.knowledge.anchors import anchor_now
from graph.services.knowledge.audit_verify import verify_audit
from graph.services.knowledge.withdrawal import withdraw_source
from graph.store.embedded import EmbeddedStore
from graph.store.memory import MemoryStore
from graph.store.port import Store, Writer
from graph.store.query import Find, Match, Newest, TextIndex
from tests.support.clock import FakeClock
from tests.support.operations import add, apply, block, cite, create, edit, made, relate
from tests.support.restoring import ids_of, undo
from tests.support.row_state import check_invariants, row_hash
from tests.support.world import TeamWorld

SYSTEM = SystemScope(reason="looking in a test")
BYTES = b"a scanned contract"


async def filled(world: TeamWorld) -> TeamWorld:
    """Knowledge of a shared channel and a private chat, with history, a withdrawn source, jobs, a file, an anchor."""
    source = await world.say(
        world.ops, "Orion runs on Postgres. Orion belongs to Helio. 王芳 leads it.", speaker=world.ben
    )
    gone = await world.say(world.ops, "Kite flies high.", speaker=world.ben)
    first = await apply(
        world,
        create("Orion", block("Runs on Postgres.", cite(source, "Orion runs on Postgres")), aliases=["猎户座"]),
        create("Helio", block("Owns Orion.", cite(source, "Orion belongs to Helio"))),
        create("Kite", block("Flies high.", cite(gone, "Kite flies high"))),
    )
    orion, helio = made(first, 0), made(first, 1)
    await apply(world, relate(orion, "belongs_to", helio, source, "Orion belongs to Helio"))
    await apply(world, add(orion, block("Is led by 王芳.", cite(source, "王芳 leads it"))))
    content = block("Ran on MySQL.", cite(source, "Orion runs on Postgres"), change="correction", standing="corrected")
    edited = await apply(world, edit(made(first, 0, 1), 1, content), by=world.ana)
    await undo(world, *ids_of(edited.records))
    await command(world.deps, world.caller(world.dan), lambda cmd: withdraw_source(cmd, gone, "a mistake"))
    await world.say(world.chat, "A secret.")
    chat = await world.open(world.chat)
    await apply(world, create("Secret", block("It is one.")), by=world.ana, conversation=chat.id)
    await command(world.deps, world.caller(world.dan), anchor_now)
    await _add_file_and_jobs(world, str((await world.open(world.ops)).pool))
    return world


async def _add_file_and_jobs(world: TeamWorld, pool: str) -> None:
    blob = await world.deps.blobs.put(BYTES)
    now = world.deps.now()
    id_ = NodeId("src_file")
    file = Source(
        id=id_,
        workspace=world.workspace,
        pool=NodeId(pool),
        created_at=now,
        kind="file",
        content_hash=blob.sha256,
        text="",
        blob_ref=blob.sha256,
        occurred_at=now,
        recorded_at=now,
        series=id_,
    )
    jobs = [
        Job(id=NodeId(f"job_{state}"), workspace=world.workspace, created_at=now, kind="embed", state=state, due_at=now)
        for state in ("queued", "running", "done")
    ]

    async def work(writer: Writer) -> None:
        await writer.put([file, *jobs])

    await world.deps.store.transact(work)


@pytest.fixture(params=["memory", "embedded"])
def other_store(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Store:
    if request.param == "memory":
        return MemoryStore(clock=clock)
    return EmbeddedStore(tmp_path / "other" / "graph.db", clock=clock)


@pytest.fixture(params=["folder", "archive.tar", "archive.tar.gz"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / "out" / str(request.param)


async def into(store: Store, deps: Deps, source: Path) -> tuple[Deps, ArchiveReceipt]:
    """Open a store, import an archive and return what works on it."""
    await store.open()
    other = replace(deps, store=store, blobs=open_blobs("memory:///"))
    return other, await import_archive(other, source)


async def answers(deps: Deps, world: TeamWorld, who: NodeId) -> dict[str, Any]:
    """Return what a reader gets: lists in order, counts, a search, a verification."""

    async def ask(session: Session) -> dict[str, Any]:
        kinds: tuple[type[Node], ...] = (Entry, Block, Source, AuditRecord)
        pages = {k.__name__: await session.page(Find(kind=k, order=Newest(), first=50)) for k in kinds}
        counts = {k.__name__: await session.reader.aggregate(session.viewer, k) for k in kinds}
        words = ("postgr", "orion", "王", "secret", "kite")
        found = await session.reader.match(session.viewer, Match(index=TextIndex.ENTRY, words=words))
        return {
            "pages": {name: page.nodes for name, page in pages.items()},
            "places": {name: page.places for name, page in pages.items()},
            "counts": {name: dict(count) for name, count in counts.items()},
            "hits": sorted((hit.id, sorted(hit.counts.items())) for hit in found.hits),
            "df": dict(found.df),
            "audit": await verify_audit(session),
        }

    result, _ = await read(deps, world.caller(who), ask)
    return result


@pytest.mark.req("AD-41")
async def test_equal_readers_get_equal_answers(
    world: TeamWorld, other_store: Store, target: Path, request: pytest.FixtureRequest
) -> None:
    await filled(world)
    written = await export_archive(world.deps, target)
    other, loaded = await into(other_store, world.deps, target)
    try:
        for who in (world.ana, world.ben, world.cleo, world.dan, world.eve):
            assert await answers(other, world, who) == await answers(world.deps, world, who)
        await check_invariants(other_store)
        assert {**loaded.rows, "nodes": loaded.rows["nodes"] + loaded.jobs_left_out} == dict(written.rows)
        assert (written.blobs, loaded.blobs) == (1, 1)
    finally:
        await other_store.close()


@pytest.mark.req("AD-41")
async def test_blobs_come_along_and_due_jobs_stay_behind(world: TeamWorld, other_store: Store, tmp_path: Path) -> None:
    await filled(world)
    await export_archive(world.deps, tmp_path / "a")
    other, loaded = await into(other_store, world.deps, tmp_path / "a")
    try:
        async with other_store.reading() as reader:
            jobs = (await reader.find(SYSTEM, Find(kind=Job))).nodes
            (file,) = (await reader.get(SYSTEM, [NodeId("src_file")])).values()
        assert [job.state for job in jobs] == ["done"]
        assert loaded.jobs_left_out == 2
        assert isinstance(file, Source)
        assert await other.blobs.read(str(file.blob_ref)) == BYTES

        async def claim(writer: Writer) -> Job | None:
            return await writer.claim(["embed"], "a worker", other.now(), 60_000)

        assert await other_store.transact(claim) is None
    finally:
        await other_store.close()


@pytest.mark.req("AD-41")
async def test_importing_again_changes_nothing_and_other_data_is_refused(
    world: TeamWorld, other_store: Store, tmp_path: Path
) -> None:
    await filled(world)
    await export_archive(world.deps, tmp_path / "a")
    other, _ = await into(other_store, world.deps, tmp_path / "a")
    try:
        before = await row_hash(other_store)
        await import_archive(other, tmp_path / "a")
        assert await row_hash(other_store) == before
        moved = TeamWorld(deps=other, name=world.name)
        await moved.say(moved.ops, "Something new.")
        with pytest.raises(BadState):
            await import_archive(other, tmp_path / "a")
    finally:
        await other_store.close()


@pytest.mark.req("AD-41", "KN-100")
async def test_life_goes_on_after_an_import(world: TeamWorld, other_store: Store, tmp_path: Path) -> None:
    await filled(world)
    await export_archive(world.deps, tmp_path / "a")
    other, _ = await into(other_store, world.deps, tmp_path / "a")
    try:
        moved = TeamWorld(deps=other, name=world.name)
        async with other_store.reading() as reader:
            records = (await reader.find(SYSTEM, Find(kind=AuditRecord))).nodes
        (last,) = [record for record in records if record.operation == "restore"]
        await undo(moved, last.id)
        verified, _ = await read(other, moved.caller(moved.ana), verify_audit)
        assert verified.ok
    finally:
        await other_store.close()


@pytest.mark.req("AD-41", "KN-85")
async def test_the_offline_verifier_reads_an_archive(world: TeamWorld, tmp_path: Path) -> None:
    await filled(world)
    await export_archive(world.deps, tmp_path / "a")
    assert verify_offline([str(tmp_path / "a")]) == 0
    lines = (tmp_path / "a" / "audit.jsonl").read_text().splitlines()
    (tmp_path / "a" / "audit.jsonl").write_text("\n".join(lines[:-1]))
    assert verify_offline([str(tmp_path / "a")]) == 1


def _flip(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(bytes(data))


def _manifest(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def _blob(folder: Path) -> str:
    return f"blobs/{next((folder / 'blobs').iterdir()).name}"


def _foreign(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "chat.json").write_text("[]")


def _rehash(folder: Path, name: str, lines: list[str]) -> None:
    """Write a file anew and give it its right hash: only what it says is wrong."""
    import hashlib

    data = "".join(f"{line}\n" for line in lines).encode()
    (folder / name).write_bytes(data)
    files = json.loads((folder / "manifest.json").read_text())["files"]
    files[name] = {**files[name], "sha256": hashlib.sha256(data).hexdigest()}
    _manifest(folder, files=files)


def _other_audit(folder: Path) -> None:
    lines = (folder / "audit.jsonl").read_text().splitlines()
    _rehash(folder, "audit.jsonl", lines[:-1])


def _bad_row(folder: Path) -> None:
    lines = (folder / "edges.jsonl").read_text().splitlines()
    _rehash(folder, "edges.jsonl", [lines[0].replace('"type":', '"kind":'), *lines[1:]])


@pytest.mark.req("AD-41")
@pytest.mark.parametrize(
    ("harm", "part"),
    [
        (lambda folder: _flip(folder, "nodes.jsonl"), "nodes.jsonl"),
        (lambda folder: _flip(folder, "texts.jsonl"), "texts.jsonl"),
        (lambda folder: _flip(folder, _blob(folder)), "blobs"),
        (lambda folder: (folder / "edges.jsonl").unlink(), "edges.jsonl"),
        (lambda folder: (folder / "manifest.json").unlink(), "manifest.json"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "manifest.json"),
        (lambda folder: _manifest(folder, format="something"), "manifest.json"),
        (lambda folder: _manifest(folder, version=2), "manifest.json"),
        (lambda folder: _manifest(folder, schema_version=9_999), "manifest.json"),
        (lambda folder: _manifest(folder, schema_version="2"), "manifest.json"),
        (lambda folder: _manifest(folder, files={"nodes.jsonl": 5}), "manifest.json"),
        (lambda folder: _manifest(folder, blobs=[5]), "manifest.json"),
        (_other_audit, "audit.jsonl"),
        (_bad_row, "edges.jsonl"),
        (_foreign, "manifest.json"),
    ],
)
async def test_a_damaged_or_foreign_archive_is_refused_and_nothing_is_loaded(
    world: TeamWorld, tmp_path: Path, clock: FakeClock, harm: Callable[[Path], None], part: str
) -> None:
    await filled(world)
    await export_archive(world.deps, tmp_path / "a")
    harm(tmp_path / "a")
    empty = replace(world.deps, store=MemoryStore(clock=clock))
    before = await row_hash(empty.store)
    with pytest.raises(ArchiveInvalid) as refused:
        await import_archive(empty, tmp_path / "a")
    assert str(refused.value.details["part"]).startswith(part)
    assert await row_hash(empty.store) == before


@pytest.mark.req("AD-41")
async def test_files_that_are_no_archive_are_refused(world: TeamWorld, tmp_path: Path, clock: FakeClock) -> None:
    empty = replace(world.deps, store=MemoryStore(clock=clock))
    await export_archive(world.deps, tmp_path / "a.tar.gz")
    whole = gzip.decompress((tmp_path / "a.tar.gz").read_bytes())
    (tmp_path / "cut.tar").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.tar").write_text("this is no archive")
    packing = zlib.compressobj(wbits=31)
    begun = packing.compress(whole[: len(whole) // 2]) + packing.flush(zlib.Z_SYNC_FLUSH)
    (tmp_path / "damaged.tar.gz").write_bytes(begun + b"\xff" * 64)
    for name in ("missing.tar", "cut.tar", "text.tar", "damaged.tar.gz"):
        with pytest.raises(ArchiveInvalid):
            await import_archive(empty, tmp_path / name)
    for name, kind in (
        ("../outside", tarfile.REGTYPE),
        ("/abs.jsonl", tarfile.REGTYPE),
        ("nodes.jsonl", tarfile.SYMTYPE),
    ):
        with tarfile.open(tmp_path / "bad.tar", "w") as tar:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            tar.addfile(member, io.BytesIO())
        with pytest.raises(ArchiveInvalid):
            await import_archive(empty, tmp_path / "bad.tar")
    assert not (tmp_path.parent / "outside").exists()


@pytest.mark.req("AD-41")
async def test_an_export_never_overwrites_and_leaves_nothing_half_done(world: TeamWorld, tmp_path: Path) -> None:
    await export_archive(world.deps, tmp_path / "out" / "a")
    with pytest.raises(BadState):
        await export_archive(world.deps, tmp_path / "out" / "a")
    blobs = world.deps.blobs
    broken = replace(world.deps, blobs=_Broken(blobs))
    await filled(world)
    with pytest.raises(OSError, match="away"):
        await export_archive(broken, tmp_path / "out" / "b")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a"]


@pytest.mark.req("AD-41")
async def test_equal_stores_give_equal_archives(world: TeamWorld, tmp_path: Path) -> None:
    await filled(world)
    await export_archive(world.deps, tmp_path / "one.tar")
    await export_archive(world.deps, tmp_path / "two.tar")
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()


class _Broken:
    """A blob store that cannot be read."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def read(self, sha256: str) -> bytes:
        raise OSError("away")
