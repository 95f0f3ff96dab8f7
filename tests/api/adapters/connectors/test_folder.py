from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from api.adapters.connectors import folder as module
from api.adapters.connectors.folder import FolderPlaces
from graph.model.errors import BadInput, SyncFailed
from graph.ports import DocumentPlaces, Loss, OpenedDocument

MAX = 1_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "shelf" / "docs"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def places(root: Path) -> DocumentPlaces:
    return FolderPlaces(allowed=[root.parent])


def options(root: Path) -> dict[str, Any]:
    return {"path": str(root)}


async def listed(places: DocumentPlaces, root: Path) -> dict[str, str]:
    look = await places.look(options(root), max_bytes=MAX)
    return {one.external_id: one.version for one in look.documents}


@pytest.mark.req("MA-19")
async def test_documents_of_all_depths_are_listed_with_a_version_that_moves_with_them(
    places: DocumentPlaces, root: Path
) -> None:
    (root / "a").mkdir()
    (root / "a" / "plan.md").write_text("One.")
    (root / "note.txt").write_text("Two.")
    before = await listed(places, root)
    assert list(before) == ["a/plan.md", "note.txt"]
    (root / "note.txt").write_text("Three.")
    after = await listed(places, root)
    assert after["a/plan.md"] == before["a/plan.md"]
    assert after["note.txt"] != before["note.txt"]


async def test_hidden_files_other_endings_and_links_out_of_the_folder_are_left_out(
    places: DocumentPlaces, root: Path
) -> None:
    secret = root.parent.parent / "secret.txt"
    secret.write_text("The password is 7.")
    (root / "link.txt").symlink_to(secret)
    (root / "up").symlink_to(root.parent.parent)
    (root / ".hidden.md").write_text("x")
    (root / "film.mp4").write_bytes(b"x")
    os.mkfifo(root / "pipe.txt")
    assert await listed(places, root) == {}
    for name in ("link.txt", "up/secret.txt", "../../secret.txt", str(secret)):
        assert await places.open(options(root), name, max_bytes=MAX) is Loss.NOT_FOUND


@pytest.mark.req("MA-25")
async def test_a_file_that_went_is_not_found_and_one_that_is_there_is_given(places: DocumentPlaces, root: Path) -> None:
    (root / "note.txt").write_text("Two.")
    found = await places.open(options(root), "note.txt", max_bytes=MAX)
    assert isinstance(found, OpenedDocument)
    assert (found.body, found.filename, found.version) == (
        b"Two.",
        "note.txt",
        (await listed(places, root))["note.txt"],
    )
    (root / "note.txt").unlink()
    assert await places.open(options(root), "note.txt", max_bytes=MAX) is Loss.NOT_FOUND


@pytest.mark.req("MA-25")
async def test_a_file_that_may_not_be_read_is_forbidden(
    places: DocumentPlaces, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "note.txt").write_text("Two.")

    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    assert await places.open(options(root), "note.txt", max_bytes=MAX) is Loss.FORBIDDEN


@pytest.mark.req("MA-23")
async def test_a_file_that_may_not_be_read_any_more_is_not_listed_so_that_it_is_asked_for(
    places: DocumentPlaces, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "note.txt").write_text("Two.")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert await listed(places, root) == {}


@pytest.mark.req("MA-25")
async def test_a_folder_that_is_gone_has_lost_no_document(places: DocumentPlaces, root: Path) -> None:
    shutil.rmtree(root)
    for work in (
        places.look(options(root), max_bytes=MAX),
        places.open(options(root), "note.txt", max_bytes=MAX),
    ):
        with pytest.raises(SyncFailed) as caught:
            await work
        assert caught.value.reason == "place_gone"
        assert "remove the connector" in caught.value.message


async def test_a_folder_that_may_not_be_read_is_a_failed_sync(
    places: DocumentPlaces, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(SyncFailed) as caught:
        await places.look(options(root), max_bytes=MAX)
    assert caught.value.reason == "place_forbidden"


async def test_a_file_over_the_limit_is_no_answer(places: DocumentPlaces, root: Path) -> None:
    (root / "big.txt").write_bytes(b"x" * (MAX + 1))
    with pytest.raises(SyncFailed) as caught:
        await places.open(options(root), "big.txt", max_bytes=MAX)
    assert caught.value.reason == "too_large"


async def test_too_many_files_are_a_failed_sync(
    places: DocumentPlaces, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_DOCUMENTS", 2)
    for number in range(3):
        (root / f"{number}.txt").write_text("x")
    with pytest.raises(SyncFailed, match="too many"):
        await places.look(options(root), max_bytes=MAX)


@pytest.mark.req("AD-18")
def test_only_folders_inside_the_allowed_ones_are_taken(places: DocumentPlaces, root: Path) -> None:
    assert places.check(options(root)) == options(root)
    for given in ({}, {"path": ""}, {"path": 7}, {"path": str(root), "more": 1}):
        with pytest.raises(BadInput):
            places.check(given)
    for elsewhere in ("/etc", str(root.parent.parent), str(root / ".." / ".."), f"{root.parent}-other"):
        with pytest.raises(BadInput, match=r"connectors\.folders"):
            places.check({"path": elsewhere})


async def test_a_folder_that_is_allowed_no_more_is_read_no_more(root: Path) -> None:
    with pytest.raises(SyncFailed) as caught:
        await FolderPlaces(allowed=[root / "other"]).look(options(root), max_bytes=MAX)
    assert caught.value.reason == "not_allowed"


@pytest.mark.req("MA-19")
async def test_a_name_that_is_no_utf8_holds_up_no_other(places: DocumentPlaces, root: Path) -> None:
    inner = root / os.fsdecode(b"caf\xe9")
    try:
        inner.mkdir()
        for folder in (inner, root):
            (folder / os.fsdecode(b"b\xff.md")).write_text("lost")
    except OSError:
        pytest.skip("the file system takes no such names")
    (root / "good.md").write_text("kept")
    assert list(await listed(places, root)) == ["good.md"]


@pytest.mark.req("MA-19")
async def test_a_file_from_a_year_that_no_calendar_has_has_no_date(
    places: DocumentPlaces, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_text("One.")
    told = os.fstat
    odd = SimpleNamespace(st_size=4, st_mtime_ns=10**21)
    monkeypatch.setattr(os, "fstat", lambda handle: odd if told(handle).st_size == odd.st_size else told(handle))
    found = await places.open(options(root), "a.md", max_bytes=MAX)
    assert isinstance(found, OpenedDocument)
    assert (found.body, found.modified_at) == (b"One.", None)
