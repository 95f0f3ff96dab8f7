"""`rootward import --bot`: old bot memory, by this process and by a running server, all or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.api.cli.support import Cli, serving


def file_of(folder: Path, *lines: dict[str, object]) -> str:
    file = folder / "old.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return str(file)


def pinned(id_: str, **more: object) -> dict[str, object]:
    tags = ["from:u_1", "for:person:u_1", "org:o_4"]
    given = {"kind": "entry", "id": id_, "layer": "pinned", "content": "Old.", "tags": tags, "createdAt": 1}
    return {**given, **more}


@pytest.mark.req("AD-21", "AD-39")
def test_old_memory_is_taken_in_once_here_and_by_a_running_server(made: Cli, tmp_path: Path) -> None:
    made.ok("admin", "agent", "Bot", "--id", "bot_9")
    made.ok("admin", "agent", "Other", "--id", "other")
    path = file_of(tmp_path, pinned("mem_1"))

    assert "1 entries taken in, 0 known, version 1 of bot_9" in made.ok("import", path, "--bot", "bot_9")
    assert "0 entries taken in, 1 known, version 1 of bot_9" in made.ok("import", path, "--bot", "bot_9")
    assert made.run("import", path, "--bot", "other").code == 6, "the id is taken in another pool"
    assert made.run("import", path, "--bot", "nobody").code == 5
    assert made.run("import", path, "--bot", "bot_9", "--agent", "x").code == 2
    with serving(made):
        more = file_of(tmp_path, pinned("mem_1"), pinned("mem_2"))
        assert "1 entries taken in, 1 known, version 2 of bot_9" in made.ok("import", more, "--bot", "bot_9")


@pytest.mark.req("AD-21", "BM-188")
def test_a_damaged_file_is_named_by_line_and_nothing_is_taken_in(made: Cli, tmp_path: Path) -> None:
    made.ok("admin", "agent", "Bot", "--id", "bot_9")
    path = file_of(tmp_path, pinned("mem_1"), pinned("mem_2", secret=1))

    ran = made.run("import", path, "--bot", "bot_9")

    assert ran.code == 2
    assert "old.jsonl, line 2" in ran.err
    assert "secret" not in ran.err
    good = file_of(tmp_path, pinned("mem_1"))
    assert "1 entries taken in" in made.ok("import", good, "--bot", "bot_9")
