"""A night of Stage B that tests disturb: what waits for it, what its model answers, and what must have come of it.

The graph that a night leaves is told without ids and times, so that a disturbed night can be compared with a quiet one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from dreaming.models.scripted import ScriptedModel
from graph.model.access import SystemScope
from graph.model.edges import EdgeType
from graph.model.fields import Node
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import BlockVersion, Entry, Facet, KnowledgeBase, Relation
from graph.model.nodes.learning import DreamBatch, DreamRun, Lesson, MemoLine, PendingItem
from graph.model.nodes.work import AuditRecord
from graph.store.port import Reader, Store
from graph.store.query import By, Direction, Find
from tests.support.channel_room import Room
from tests.support.learning import provision, task
from tests.support.night import DECIDE, SELECT, Night, Shown, everything
from tests.support.operations import add, block, cite, create, edit, relate

LOOK = SystemScope(reason="comparing in a test")
Json = dict[str, Any]

RELEASE = "Orion ships on Friday"
LATER = "No, Orion ships on Monday"
TEAM = "Mei works for Orion"
SALARY = "my salary is 90k"
FIXED = "freed the disk and deployed"


async def wait_for(night: Night) -> None:
    """Let three episodes of a channel, one of a private chat and a task result wait, in batches of two."""
    await provision(night.world, "deploy")
    await Room(night.world, night.clock).set_to(stage_b__max_items=2)
    for topic, words in (("Release", RELEASE), ("Team", TEAM), ("Delay", LATER)):
        await night.talk(words, topic=topic)
        night.clock.advance(timedelta(minutes=1))
    await night.talk(SALARY, topic="Salary", channel=night.world.chat)
    await task(night.world, ("error", "the disk was full"), ("ok", FIXED))


def model_of() -> ScriptedModel:
    """Return the model of the night: it answers by what it is shown."""
    return ScriptedModel().on(SELECT, everything).on(DECIDE, lambda request: {"operations": decide(Shown(request))})


def decide(shown: Shown) -> list[Json]:
    """Return the operations about what is shown."""
    told = {RELEASE: _release, TEAM: _team, LATER: _later, SALARY: _salary, FIXED: _fixed}
    evidence = "\n".join(shown.text.split("## Entries")[0].splitlines())
    return [operation for words, says in told.items() if words in evidence for operation in says(shown)]


def _release(s: Shown) -> list[Json]:
    return [create("Orion", block("Ships on Friday.", cite(s.source(RELEASE), RELEASE)), type="project", ref="orion")]


def _team(s: Shown) -> list[Json]:
    words = cite(s.source(TEAM), TEAM)
    return [
        create("Mei", block("Works for Orion.", words), type="person", ref="mei"),
        relate("mei", "works_for", "orion", s.source(TEAM), TEAM),
        {"op": "writeMemo", "expectedVersion": 0, "lines": [{"text": "Ask Mei about Orion.", "citations": [words]}]},
        {"op": "dance"},
    ]


def _later(s: Shown) -> list[Json]:
    old = s.block("Ships on Friday.")
    moved = block(
        "Ships on Monday.", cite(s.source(LATER), LATER, "corrects"), change="correction", standing="corrected"
    )
    return [edit(old["id"], old["version"], moved)]


def _salary(s: Shown) -> list[Json]:
    return [create("Pay", block("Earns 90k.", cite(s.source(SALARY), SALARY)))]


def _fixed(s: Shown) -> list[Json]:
    words = cite(s.source(FIXED), FIXED)
    text = "Free the disk before a deployment."
    lesson = {"op": "updateSkillOverlay", "skill": "deploy", "action": "add", "origin": "failure_recovery"}
    ops = [{**lesson, "text": text, "citations": [words]}]
    return [*ops, add("nobody", block("Nothing.", words))]


async def told(store: Store, workspace: str) -> Json:
    """Return what a night left: statements, audit, runs and what still waits, without ids and times."""
    async with store.reading() as reader:
        names = await _names(reader, workspace)
        return {
            "statements": sorted(
                [await _statement(reader, node, names) for node in await _believed(reader, workspace)]
            ),
            "audit": await _audit(reader, workspace, names),
            "runs": [
                (r.state, r.trigger, r.materials_processed, r.operations, r.skill_updates, r.rejected, r.error)
                for r in await _all(reader, DreamRun, workspace)
            ],
            "batches": sorted(
                (b.state, len(b.item_ids), b.operations, b.skill_updates, b.rejected, str(_codes(b)))
                for b in await _all(reader, DreamBatch, workspace)
            ),
            "waits": [i.item_kind for i in await _all(reader, PendingItem, workspace) if i.state != "consumed"],
        }


async def _all(reader: Reader, kind: type[Any], workspace: str) -> list[Any]:
    found = (await reader.find(LOOK, Find(kind=kind, order=By("created_at")))).nodes
    return [node for node in found if node.workspace == workspace]


async def _names(reader: Reader, workspace: str) -> dict[str, str]:
    """Return what entries, sources and bases are called, by id."""
    names: dict[str, str] = {e.id: e.name for e in await _all(reader, Entry, workspace)}
    names |= {s.id: s.text for s in await _all(reader, Source, workspace)}
    names |= {b.id: f"{b.kind} base" for b in await _all(reader, KnowledgeBase, workspace)}
    return names


async def _believed(reader: Reader, workspace: str) -> list[Node]:
    kinds = (BlockVersion, Facet, Relation, Lesson, MemoLine)
    return [node for kind in kinds for node in await _all(reader, kind, workspace)]


async def _statement(reader: Reader, node: Any, names: dict[str, str]) -> str:
    edges = await reader.edges(LOOK, [node.id], [EdgeType.CITES], Direction.OUT)
    cited = sorted((names[e.target], e.props["quote"], e.props["role"]) for e in edges)
    says = [getattr(node, name, None) for name in ("text", "value", "type", "basis", "standing", "change", "origin")]
    where = [names.get(str(getattr(node, name, None))) for name in ("entry_id", "subject_id", "object_id", "pool")]
    current = getattr(node, "invalidated_at", None) is None and getattr(node, "current", True)
    return repr((type(node).__name__, says, where, current, cited))


async def _audit(reader: Reader, workspace: str, names: dict[str, str]) -> list[str]:
    records = sorted(await _all(reader, AuditRecord, workspace), key=lambda r: (names[r.pool], r.seq))
    seen: dict[str, str] = {}
    return [
        repr((names[r.pool], r.seq, r.operation, r.actor_kind, _plain(r.before, seen), _plain(r.after, seen))).replace(
            workspace, "<workspace>"
        )
        for r in records
    ]


def _plain(image: Any, seen: dict[str, str]) -> str:
    """Return an image with its ids numbered by their first occurrence."""
    without_times = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "<time>", repr(image))
    return re.sub(
        r"\b[a-z]{3}_[0-9a-z]{26}\b", lambda match: seen.setdefault(match.group(), f"<{len(seen)}>"), without_times
    )


def _codes(batch: DreamBatch) -> Sequence[Any]:
    return [(row["index"], row["op"], row["code"]) for row in batch.rejections or ()]
