"""The offline verifier as a person runs it: files in, a report and an exit code out."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from api.cli import verify_offline
from graph.model.ids import NodeId, WorkspaceId
from graph.model.time import Millis
from graph.rules.admin_chain import AdminOperation, AdminStep, export_step, seal_step
from graph.rules.audit_anchors import SealedAnchor, anchor
from graph.rules.audit_chain import GENESIS, Head, SealedAudit, erase_images
from graph.rules.images import erase_image
from tests.support.audit_chains import make_chain, make_draft

SCRIPT = Path(verify_offline.__file__)


def write(path: Path, lines: Iterable[SealedAudit | SealedAnchor]) -> Path:
    path.write_text("".join(json.dumps(line.to_export(), ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def pools() -> dict[str, list[SealedAudit]]:
    drafts = [make_draft(after={"text": f"第{n} 版"}, image_sources=("src_1",)) for n in range(4)]
    erase = make_draft("source.erase", "src_1", before=None, after=erase_image(["src_1"]))
    first = make_chain([*drafts, erase], pool="knb_1")
    first[1] = erase_images(first[1])
    return {"knb_1": first, "knb_2": make_chain(drafts[:2], pool="knb_2")}


@pytest.fixture
def anchors(pools: dict[str, list[SealedAudit]]) -> list[SealedAnchor]:
    first = anchor({"knb_1": pools["knb_1"][2].head}, workspace="w", recorded_at=Millis(1))
    heads = {pool: chain[-1].head for pool, chain in pools.items()}
    return [first, anchor(heads, first.head, workspace="w", recorded_at=Millis(2))]


@pytest.fixture
def folder(tmp_path: Path, pools: dict[str, list[SealedAudit]], anchors: list[SealedAnchor]) -> Path:
    mixed = [record for pair in zip(pools["knb_1"], pools["knb_2"], strict=False) for record in pair]
    write(tmp_path / "audit.jsonl", mixed + pools["knb_1"][2:])
    write(tmp_path / "anchors.jsonl", anchors)
    return tmp_path


@pytest.mark.req("KN-85", "AD-27", "AD-28")
def test_an_untouched_export_holds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify_offline.main([str(folder)]) == 0
    report = capsys.readouterr().out
    assert "knb_1: intact up to seq 5, 1 with erased images" in report
    assert "knb_2: intact up to seq 2" in report
    assert report.endswith("all chains hold\n")


@pytest.mark.req("KN-85")
def test_a_forged_image_is_named_with_its_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (folder / "audit.jsonl").read_text("utf-8").replace("第3 版", "第9 版")
    (folder / "audit.jsonl").write_text(lines, "utf-8")
    assert verify_offline.main([str(folder)]) == 1
    assert "knb_1: BROKEN at seq 4: an image, a reason or the salt was changed" in capsys.readouterr().out


@pytest.fixture
def office(folder: Path, anchors: list[SealedAnchor]) -> Path:
    """The folder with three steps of administration, the second of which an anchor binds, and the third another."""
    steps, head = [], GENESIS
    for number in range(3):
        operation, at = AdminOperation.TOKEN_CREATE, Millis(number)
        who, target, space = NodeId("prn_w/human/dan"), NodeId(f"tok_{number}"), WorkspaceId("w")
        step = AdminStep(workspace=space, actor_id=who, tx_id="t", at=at, operation=operation, target_id=target)
        steps.append(seal_step(step, head, NodeId(f"adr_{number}")))
        head = Head(seq=steps[-1].seq, hash=steps[-1].hash)
    bound = {**anchors[-1].heads, "wsp_w": head}
    write(folder / "anchors.jsonl", [*anchors, anchor(bound, anchors[-1].head, workspace="w", recorded_at=Millis(3))])
    lines = [json.dumps(export_step(step)) + "\n" for step in steps]
    (folder / "administration.jsonl").write_text("".join(lines), "utf-8")
    return folder


@pytest.mark.req("AD-27")
def test_the_chain_of_administration_is_followed_too(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify_offline.main([str(office)]) == 0
    assert "wsp_w: intact up to seq 3" in capsys.readouterr().out


@pytest.mark.req("AD-27", "AD-26")
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text.replace("tok_1", "tok_9"), "wsp_w: BROKEN at seq 2: a field of the record was changed"),
        (lambda text: "".join(text.splitlines(True)[:2]), "wsp_w: BROKEN at seq 3: the chain ends before"),
        (lambda text: "".join(text.splitlines(True)[1:]), "wsp_w: BROKEN at seq 1: a record is missing"),
        (lambda text: "", "wsp_w: BROKEN at seq 1: the chain ends before"),
    ],
)
def test_a_forged_or_missing_step_of_administration_is_named(
    office: Path, change: Callable[[str], str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = office / "administration.jsonl"
    path.write_text(change(path.read_text("utf-8")), "utf-8")
    assert verify_offline.main([str(office)]) == 1
    assert told in capsys.readouterr().out
    path.unlink()
    assert verify_offline.main([str(office)]) == 1, "nor may the whole file be missing"


@pytest.mark.req("AD-27")
def test_records_of_administration_are_no_part_of_a_bare_file_of_audit_records(office: Path) -> None:
    published = ["--published", str(office / "anchors.jsonl")]
    assert verify_offline.main([str(office / "audit.jsonl"), *published]) == 0
    lines = (office / "audit.jsonl").read_text("utf-8")
    stray = json.dumps({"pool": "wsp_w", "seq": 1, "prev_hash": "", "hash": "x"}) + "\n"
    (office / "audit.jsonl").write_text(lines + stray, "utf-8")
    assert verify_offline.main([str(office / "audit.jsonl"), *published]) == 1


@pytest.mark.req("KN-81", "KN-85")
def test_records_of_the_first_form_hold_and_so_does_their_reason(tmp_path: Path) -> None:
    old = make_chain([make_draft(reason="a guess"), make_draft(image_sources=("src_1",))], first_form=True)
    erase = make_draft("source.erase", "src_1", before=None, after=erase_image(["src_1"]), reason="asked to")
    new = make_chain([make_draft(image_sources=("src_1",), reason="quotes it"), erase], head=old[-1].head)
    records = [old[0], erase_images(old[1]), erase_images(new[0]), new[1]]
    assert [record.draft.reason for record in records] == ["a guess", "a typing error", "[erased]", "asked to"]
    path = write(tmp_path / "audit.jsonl", records)
    assert "reason_commitment" not in path.read_text("utf-8").splitlines()[0]
    assert verify_offline.main([str(path)]) == 0
    for said in ("a guess", "a typing error", "[erased]", "asked to"):
        changed = tmp_path / "changed.jsonl"
        changed.write_text(path.read_text("utf-8").replace(f'"reason": "{said}"', '"reason": "other"'), "utf-8")
        assert verify_offline.main([str(changed)]) == 1, said


@pytest.mark.req("AD-27")
def test_a_cut_tail_and_a_missing_pool_are_found_by_the_anchors(
    folder: Path, pools: dict[str, list[SealedAudit]], capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder / "audit.jsonl", pools["knb_1"][:4])
    assert verify_offline.main([str(folder / "audit.jsonl")]) == 1  # the erased image has lost its explanation
    assert verify_offline.main([str(folder)]) == 1
    report = capsys.readouterr().out
    assert "knb_2: BROKEN at seq 1: the chain ends before what an anchor names" in report


@pytest.mark.req("AD-27")
def test_a_pool_that_newer_anchors_no_longer_name_may_be_gone(
    folder: Path, pools: dict[str, list[SealedAudit]], anchors: list[SealedAnchor]
) -> None:
    last = anchor({"knb_1": pools["knb_1"][-1].head}, anchors[-1].head, workspace="w", recorded_at=Millis(3))
    write(folder / "audit.jsonl", pools["knb_1"])
    write(folder / "anchors.jsonl", [*anchors, last])
    assert verify_offline.main([str(folder)]) == 0


@pytest.mark.req("AD-27")
def test_a_history_rewritten_with_its_anchors_is_found_by_a_published_anchor(
    folder: Path, tmp_path: Path, anchors: list[SealedAnchor], capsys: pytest.CaptureFixture[str]
) -> None:
    published = write(tmp_path / "published.jsonl", anchors[-1:])
    assert verify_offline.main([str(folder), "--published", str(published)]) == 0
    forged = make_chain([make_draft(reason=f"forged {n}") for n in range(6)], pool="knb_1")
    write(folder / "audit.jsonl", forged)
    first = anchor({}, workspace="w", recorded_at=Millis(1))
    write(
        folder / "anchors.jsonl",
        [first, anchor({"knb_1": forged[-1].head}, first.head, workspace="w", recorded_at=Millis(2))],
    )
    assert verify_offline.main([str(folder)]) == 0
    capsys.readouterr()
    assert verify_offline.main([str(folder), "--published", str(published)]) == 1
    report = capsys.readouterr().out
    assert "w: BROKEN at seq 2: the record is not the one that an anchor names" in report
    assert "knb_1: BROKEN at seq 5: the record is not the one that an anchor names" in report


@pytest.mark.parametrize("value", [10**400, -(2**53) - 1, float("inf"), "\ud800"])
def test_a_value_that_no_record_can_hold_breaks_the_chain(pools: dict[str, list[SealedAudit]], value: Any) -> None:
    lines = [record.to_export() for record in pools["knb_2"]]
    lines[1]["after"] = {"text": value}
    (finding,) = verify_offline.verify(lines)
    assert (finding.seq, bool(finding.reason)) == (1, True)


@pytest.mark.parametrize("text", ['{"pool": "knb_1", "pool": "knb_2"}', "[1]", '{"pool": ', "\xff", "[" * 100_000])
def test_a_file_that_cannot_be_read_is_no_intact_chain(tmp_path: Path, text: str, capsys: Any) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_bytes(text.encode("latin-1"))
    assert verify_offline.main([str(path)]) == 2
    assert "cannot read the export" in capsys.readouterr().err


def test_it_runs_alone_with_the_standard_library_only(folder: Path) -> None:
    tree = ast.parse(SCRIPT.read_text("utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert {str(name).partition(".")[0] for name in imported} <= sys.stdlib_module_names
    assert len(SCRIPT.read_text("utf-8").splitlines()) <= 200
    command = [sys.executable, "-I", "-S", str(SCRIPT), str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert (run.returncode, run.stderr) == (0, "")
