"""Evidence bundles: made by one command, checked by a second person with Python alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.cli.bundle_files import write_bundle
from graph.model.errors import BadState, Forbidden, NotFound
from graph.model.ids import NodeId
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.knowledge.anchors import anchor_now
from graph.services.knowledge.erasure import erase_source
from graph.services.knowledge.evidence_bundle import EvidenceBundle, evidence_bundle
from tests.support.operations import add, apply, block, cite, create, deduction, made
from tests.support.world import TeamWorld


async def filled(world: TeamWorld) -> tuple[NodeId, NodeId]:
    """A deduced block version with its chain of two sources, and another entry; returns the version and a source."""
    source = await world.say(world.ops, "Orion runs on Postgres.\r\nPostgres 12 is out of support.", speaker=world.ben)
    result = await apply(
        world,
        create("Orion", block("Runs on Postgres.", cite(source, "Orion runs on Postgres"))),
        create("Kite", block("A secret of Kite.", cite(source, "Postgres 12 is out of support"))),
    )
    kite = create("Wing", block("It is one.", cite(source, "Postgres 12 is out of support")))
    await apply(world, kite, reason="as Kite whispered")
    based = await apply(world, add(made(result), deduction("if so", "an upgrade is due", made(result, 0, 1))))
    await command(world.deps, world.caller(world.dan), anchor_now)
    return made(based, 0, 1), source


async def bundle(world: TeamWorld, id_: NodeId, by: NodeId | None = None, *viewers: NodeId) -> EvidenceBundle:
    found, _ = await read(world.deps, world.caller(by or world.cleo), lambda s: evidence_bundle(s, id_, viewers))
    return found


def check(folder: Path, *options: str) -> tuple[int, str]:
    """Run the script of the bundle, away from our own code."""
    done = subprocess.run(
        [sys.executable, "-I", str(folder / "verify_bundle.py"), *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.req("KN-85", "AD-27")
async def test_a_second_person_verifies_a_bundle_without_any_service(world: TeamWorld, tmp_path: Path) -> None:
    version, source = await filled(world)
    made_bundle = await bundle(world, version, world.cleo, world.ben, world.eve)
    folder = tmp_path / "bundle"
    write_bundle(made_bundle, folder)
    code, said = check(folder)
    assert (code, "the bundle holds" in said) == (0, True), said
    access = {decision["viewer"]: decision["visible"] for decision in json.loads(made_bundle.files["access.json"])}
    assert access == {world.cleo: True, world.ben: True, world.eve: False}
    assert source in made_bundle.files["sources.jsonl"].decode()
    everything = b"".join(made_bundle.files.values())
    assert b"A secret of Kite" not in everything, "images of other statements are withheld"
    assert b"whispered" not in everything, "and so are their reasons, which may quote"
    with pytest.raises(BadState):
        write_bundle(made_bundle, folder)


def _edit(folder: Path, name: str, change: Callable[[str], str]) -> None:
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert change(text) != text
    path.write_text(change(text), encoding="utf-8")
    manifest = json.loads((folder / "bundle.json").read_text())
    import hashlib

    manifest["files"][name] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "bundle.json").write_text(json.dumps(manifest))


def _cut(text: str) -> str:
    return "".join(text.splitlines(keepends=True)[:-1])


@pytest.mark.req("KN-85")
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("sources.jsonl", lambda text: text.replace("Orion runs", "Orion ran!")),
        ("statement.json", lambda text: text.replace("an upgrade is due", "no upgrade is due")),
        ("provenance.json", lambda text: text.replace("Orion runs on Postgres", "Orion runs on MySQL!!!")),
        ("audit.jsonl", lambda text: text.replace("an upgrade is due", "no upgrade is due")),
        ("audit.jsonl", lambda text: text.replace("a test", "a fraud")),
        ("audit.jsonl", _cut),
        ("anchors.jsonl", lambda text: text.replace('"seq": 4', '"seq": 3')),
    ],
)
async def test_a_forged_bundle_does_not_hold(
    world: TeamWorld, tmp_path: Path, name: str, change: Callable[[str], str]
) -> None:
    version, _ = await filled(world)
    folder = tmp_path / "bundle"
    write_bundle(await bundle(world, version), folder)
    _edit(folder, name, change)
    code, said = check(folder)
    assert (code, "the bundle holds" in said) == (1, False), said


@pytest.mark.req("KN-81")
async def test_a_bundle_of_an_erased_source_still_verifies(world: TeamWorld, tmp_path: Path) -> None:
    _, source = await filled(world)
    private = await world.say(world.ops, "Vega is new.", speaker=world.ben)
    result = await apply(world, create("Vega", block("Is new.", cite(private, "Vega is new"))))
    await command(world.deps, world.caller(world.dan), lambda cmd: erase_source(cmd, source, "personal data"))
    folder = tmp_path / "bundle"
    write_bundle(await bundle(world, made(result)), folder)
    code, said = check(folder)
    assert code == 0, said


@pytest.mark.req("KN-58", "KN-60")
async def test_only_auditors_make_bundles_and_hidden_nodes_do_not_exist(world: TeamWorld) -> None:
    version, _ = await filled(world)
    for who in (world.ana, world.ben):
        with pytest.raises(Forbidden):
            await bundle(world, version, who)
    for who, id_ in ((world.eve, version), (world.cleo, NodeId("blv_nothing"))):
        with pytest.raises(NotFound):
            await bundle(world, id_, who)


@pytest.mark.req("KN-59")
async def test_a_bundle_of_a_private_chat_is_noted_to_be_recorded(world: TeamWorld) -> None:
    await world.say(world.chat, "A secret.")
    chat = await world.open(world.chat)
    result: Any = await apply(world, create("Secret", block("It is one.")), by=world.ana, conversation=chat.id)
    _, session = await read(world.deps, world.caller(world.cleo), lambda s: evidence_bundle(s, made(result)))
    assert session.recorded == {chat.pool}
