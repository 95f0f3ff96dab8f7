"""One contract for every place that keeps bytes: a directory, memory, an S3-compatible server."""

import asyncio
import hashlib
import os
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import obstore
import pytest
from obstore.store import MemoryStore, S3Store

from api.adapters.blobs import DirectoryBlobs, ObjectBlobs, open_blobs
from graph.model.errors import BadInput, BlobDamaged, NotFound, StoreUnavailable
from graph.model.time import Millis
from graph.ports import BlobRef, BlobStore
from tests.contract.blobs.s3 import BUCKET, s3_server

NOBODY = "0" * 64


def name_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    with s3_server() as url:
        yield url


@pytest.fixture(params=["directory", "memory", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectBlobs:
    if request.param == "directory":
        return DirectoryBlobs(tmp_path / "blobs")
    if request.param == "memory":
        return ObjectBlobs(MemoryStore())
    return open_s3(request.getfixturevalue("s3"), prefix=tmp_path.name)


def open_s3(endpoint: str, prefix: str) -> ObjectBlobs:
    store = S3Store(
        BUCKET,
        prefix=prefix,
        endpoint=endpoint,
        region="us-east-1",
        access_key_id="test",
        secret_access_key="test",
        client_options={"allow_http": True},
    )
    return ObjectBlobs(store)


def files_in(folder: Path) -> list[Path]:
    return [f for f in folder.rglob("*") if f.is_file()]


async def in_chunks(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


@pytest.mark.req("AD-32", "MA-4")
async def test_bytes_come_back_unchanged_under_their_hash(blobs: ObjectBlobs) -> None:
    data = bytes(range(256)) * 10
    assert await blobs.put(data) == BlobRef(sha256=name_of(data), size_bytes=2_560)
    assert await blobs.read(name_of(data)) == data


@pytest.mark.req("AD-32")
async def test_chunks_are_stored_like_the_whole(blobs: ObjectBlobs) -> None:
    ref = await blobs.put(in_chunks(b"one ", b"", b"two"))
    assert ref == BlobRef(sha256=name_of(b"one two"), size_bytes=7)
    assert await blobs.read(ref.sha256) == b"one two"


async def test_no_bytes_are_bytes_too(blobs: ObjectBlobs) -> None:
    ref = await blobs.put(b"")
    assert await blobs.read(ref.sha256) == b""
    assert await blobs.exists(ref.sha256)


async def test_large_bytes_come_back_whole(blobs: ObjectBlobs) -> None:
    part = os.urandom(1024 * 1024)
    ref = await blobs.put(in_chunks(*[part] * 12))
    chunks = [chunk async for chunk in blobs.open(ref.sha256)]
    assert b"".join(chunks) == part * 12


@pytest.mark.req("MA-5")
async def test_equal_bytes_are_kept_once(blobs: ObjectBlobs) -> None:
    assert await blobs.put(b"same") == await blobs.put(b"same")
    assert [name async for name, _ in blobs.list()] == [name_of(b"same")]


async def test_the_list_names_everything_with_its_time(blobs: ObjectBlobs) -> None:
    names = {(await blobs.put(b"%d" % n)).sha256 for n in range(60)}
    listed = [item async for item in blobs.list()]
    assert {name for name, _ in listed} == names
    assert len(listed) == 60
    assert all(at > 1_700_000_000_000 for _, at in listed)


@pytest.mark.req("AD-32")
async def test_deleted_bytes_are_gone_and_deleting_twice_is_no_error(blobs: ObjectBlobs) -> None:
    ref = await blobs.put(b"erase me")
    await blobs.delete(ref.sha256)
    await blobs.delete(ref.sha256)
    assert not await blobs.exists(ref.sha256)
    with pytest.raises(NotFound):
        await blobs.read(ref.sha256)


@pytest.mark.parametrize("name", [NOBODY, "../../etc/passwd", "", NOBODY.upper().replace("0", "A"), NOBODY + "\n"])
async def test_an_unknown_or_impossible_name_is_not_found(blobs: ObjectBlobs, name: str) -> None:
    await blobs.put(b"something")
    assert not await blobs.exists(name)
    with pytest.raises(NotFound):
        await blobs.read(name)


@pytest.mark.parametrize("damage", [b"otherbytes", b"short", b""])
async def test_bytes_that_changed_where_they_lie_are_reported(blobs: ObjectBlobs, damage: bytes) -> None:
    ref = await blobs.put(b"good bytes")
    path = f"sha256/{ref.sha256[:2]}/{ref.sha256}"
    await obstore.put_async(blobs._store, path, damage)
    with pytest.raises(BlobDamaged):
        await blobs.read(ref.sha256)


async def test_a_source_that_fails_midway_stores_nothing(blobs: ObjectBlobs) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionError("the sender went away")

    with pytest.raises(ConnectionError):
        await blobs.put(broken())
    assert [name async for name, _ in blobs.list()] == []


@pytest.mark.req("AD-32")
async def test_a_directory_syncs_the_file_before_its_name_and_then_the_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs, steps = DirectoryBlobs(tmp_path), []
    real_sync, real_replace = os.fsync, os.replace

    def sync(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        real_sync(descriptor)

    def replace(source: str, target: Path) -> None:
        steps.append("replace")
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", replace)
    await blobs.put(b"durable")
    assert steps == ["file", "replace", "folder", "folder", "folder"]


@pytest.mark.req("AD-32")
async def test_a_failed_sync_is_not_acknowledged_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    blobs = DirectoryBlobs(tmp_path)
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StoreUnavailable):
        await blobs.put(b"lost")
    assert files_in(tmp_path) == []


async def test_a_directory_is_closed_to_others(tmp_path: Path) -> None:
    ref = await DirectoryBlobs(tmp_path / "blobs").put(b"secret")
    file = next((tmp_path / "blobs").rglob(ref.sha256))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "blobs").stat().st_mode) == 0o700


async def test_putting_again_renews_the_time_for_the_collector(tmp_path: Path) -> None:
    blobs = DirectoryBlobs(tmp_path)
    await blobs.put(b"again")
    os.utime(files_in(tmp_path)[0], (1_000, 1_000))
    await blobs.put(b"again")
    assert [at > 1_000_000 async for _, at in blobs.list()] == [True]


async def test_stale_uploads_are_removed_and_fresh_ones_are_not(tmp_path: Path) -> None:
    blobs = DirectoryBlobs(tmp_path)
    (tmp_path / "incoming").mkdir()
    for name, at in (("old", 1_000), ("new", 3_000)):
        (tmp_path / "incoming" / name).write_bytes(b"x")
        os.utime(tmp_path / "incoming" / name, (at, at))
    assert await blobs.remove_stale_uploads(Millis(2_000_000)) == 1
    assert [f.name for f in (tmp_path / "incoming").iterdir()] == ["new"]


async def test_a_store_that_cannot_be_reached_says_so() -> None:
    store = S3Store(
        "b",
        endpoint="http://127.0.0.1:9",
        region="us-east-1",
        access_key_id="a",
        secret_access_key="b",
        client_options={"allow_http": True},
        retry_config={"max_retries": 0},
    )
    with pytest.raises(StoreUnavailable):
        await ObjectBlobs(store).put(b"x")


def test_both_are_the_port(tmp_path: Path) -> None:
    ports: list[BlobStore] = [ObjectBlobs(MemoryStore()), DirectoryBlobs(tmp_path)]
    assert len(ports) == 2


async def test_a_setting_names_the_store(tmp_path: Path) -> None:
    assert isinstance(open_blobs((tmp_path / "a b").as_uri()), DirectoryBlobs)
    assert (tmp_path / "a b").is_dir()
    assert await open_blobs("memory:///").put(b"x") == BlobRef(sha256=name_of(b"x"), size_bytes=1)
    with pytest.raises(BadInput):
        open_blobs("nonsense://x")


@pytest.mark.req("AD-32")
@pytest.mark.parametrize("date", ["yesterday", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00"])
async def test_a_list_with_a_date_that_is_none_is_an_answer_that_failed(date: str) -> None:
    listed = f"<Contents><Key>x/sha256/aa/{'a' * 64}</Key><LastModified>{date}</LastModified><Size>1</Size></Contents>"
    body = f"<ListBucketResult><IsTruncated>false</IsTruncated>{listed}</ListBucketResult>".encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(StoreUnavailable):
            [name async for name, _ in open_s3(f"http://127.0.0.1:{port}", "x").list()]
