"""Anchors that are appended to a file outside the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.adapters.anchor_file import AnchorFile
from api.cli.verify_offline import read
from graph.model.ids import WorkspaceId
from graph.model.time import Millis
from graph.rules.audit_anchors import SealedAnchor, anchor
from graph.rules.audit_chain import Head


def made(seq: int) -> SealedAnchor:
    heads = {"knb_1": Head(seq=seq, hash="a" * 64)}
    return anchor(heads, Head(seq=seq - 1, hash="b" * 64), workspace=WorkspaceId("w"), recorded_at=Millis(1_000 * seq))


@pytest.mark.req("AD-27")
@pytest.mark.parametrize("kept", [0, 1, 60, -1])
async def test_a_line_that_a_stopped_process_left_half_is_completed(tmp_path: Path, kept: int) -> None:
    """Its anchor comes again when the next process starts."""
    file = tmp_path / "anchors.jsonl"
    for seq in (1, 2):
        await AnchorFile(file).publish(made(seq))
    first, second = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(first + second[:kept])
    for seq in (1, 2, 3):
        await AnchorFile(file).publish(made(seq))
    assert read(file) == [made(seq).to_export() for seq in (1, 2, 3)]


@pytest.mark.req("AD-27")
async def test_a_line_without_an_end_that_is_no_part_of_an_anchor_spoils_none(tmp_path: Path) -> None:
    file = tmp_path / "anchors.jsonl"
    file.write_bytes(b'{"noted": "by hand"}')
    await AnchorFile(file).publish(made(1))
    assert read(file) == [{"noted": "by hand"}, made(1).to_export()]
