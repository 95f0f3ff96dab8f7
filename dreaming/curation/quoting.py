"""Evidence and knowledge as quoted data: one JSON object a line, in the words of the operation list (DR-10).

A text is data whatever it says; a line holds the short names by which an answer may speak of what it shows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dreaming.curation.names import Names
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Episode, Source, SourceKind
from graph.model.nodes.learning import Skill
from graph.model.time import Millis, clock_reading, to_datetime, zone_name
from graph.rules.validity import shown_date
from graph.services.knowledge.views import (
    AttributeView,
    BlockView,
    CitationView,
    EntryView,
    RelationView,
    SupportView,
)
from graph.services.learning.resident_memo import MemoView
from graph.services.learning.skills import LessonView
from graph.text.tokens import Tokenizer

Line = dict[str, Json]
_TRIES = 12
_EXCERPT_TOKENS = 120


def as_text(line: Mapping[str, Json]) -> str:
    """Return one line of quoted data; what says nothing is left out."""
    return json.dumps(
        {key: value for key, value in line.items() if value not in (None, "", (), [])}, ensure_ascii=False
    )


def shown_time(at: Millis, offset: int | None = None) -> str:
    """Return a time as prompts give it: in the zone where it was said if that is known, else in UTC.

    >>> shown_time(Millis(1704036600000), 540), shown_time(Millis(1704036600000))
    ('2024-01-01 00:30 +09:00', '2023-12-31 15:30')
    """
    zone = f" {zone_name(offset)}" if offset else ""
    return f"{to_datetime(clock_reading(at, offset)):%Y-%m-%d %H:%M}{zone}"


def source_line(source: Source, names: Names, *, start: int = 0, end: int | None = None) -> Line:
    """Return a raw source, or a stretch of its text; steps of a task result are told apart from its answer."""
    line = _head(source, names)
    if not source.latest:
        line["newerVersion"] = True
    if source.kind == SourceKind.TASK_RESULT and isinstance(source.meta, Mapping):
        return {**line, **_task(source)}
    text = source.text[start:end]
    cut = {"from": start, "to": start + len(text)} if (start, len(text)) != (0, len(source.text)) else {}
    return {**line, **cut, "text": text}


def fitted(line: Line, tokenizer: Tokenizer, budget: int) -> str:
    """Return a line of at most so many tokens: of a longer one the beginning of its text, marked as shortened."""
    whole = as_text(line)
    if tokenizer.count(whole) <= budget or "text" not in line:
        return whole
    text, room = str(line["text"]), budget
    for _ in range(_TRIES):
        shown = as_text({**line, "shortened": True, "text": tokenizer.cut_to(text, room)})
        over = tokenizer.count(shown) - budget
        if over <= 0 or room <= 0:
            return shown
        room = min(room - over, room * 9 // 10)
    return as_text({**line, "shortened": True, "text": ""})


def episode_line(episode: Episode, names: Names, *, messages: int) -> Line:
    """Return what an episode is about, to find one's way by; it is never evidence (DR-23)."""
    return {
        "id": names.of(episode.id),
        "kind": "episode",
        "from": shown_time(episode.from_at),
        "to": shown_time(episode.to_at),
        "topic": episode.topic,
        "summary": episode.summary,
        "conclusions": episode.conclusions,
        "systems": list(episode.systems),
        "messages": messages,
    }


def index_line(source: Source, names: Names, tokenizer: Tokenizer) -> Line:
    """Return the beginning of a source, to choose by."""
    return {**_head(source, names), "begins": tokenizer.cut_to(source.text, _EXCERPT_TOKENS)}


def entry_head(view: EntryView, names: Names, scope: str) -> Line:
    """Return what an entry is about."""
    return {
        "id": names.of(view.id),
        "name": view.name,
        "type": view.type,
        "aliases": list(view.aliases),
        "summary": view.summary,
        "scope": scope,
        "readOnly": view.read_only or None,
    }


def block_line(view: BlockView, names: Names) -> Line:
    """Return the present version of a block with what it rests on."""
    assert view.current is not None
    version = view.current.node
    return {
        "id": names.of(view.node.id),
        "version": view.node.current_version,
        "text": version.text,
        "basis": version.basis,
        "standing": version.standing,
        **_validity(version),
        "authority": version.authority,
        "writtenBy": version.modifier_kind,
        "stale": view.current.stale or None,
        "sources": citations(view.current.support, names),
    }


def hidden_line(id_: NodeId, version: int, left: Sequence[CitationView], names: Names) -> Line:
    """Return a block of which nobody may see the text any more, with the evidence that is left of it (MA-24)."""
    return {"id": names.of(id_), "version": version, "hidden": True, "sources": [_citation(c, names) for c in left]}


def attribute_line(view: AttributeView, names: Names) -> Line:
    """Return one value of an attribute."""
    return {
        "key": view.node.key,
        "value": view.node.value,
        **_validity(view.node),
        "sources": citations(view.support, names),
    }


def relation_line(view: RelationView, names: Names, titles: Mapping[NodeId, str]) -> Line:
    """Return a relation with the names of both ends and its evidence."""
    node = view.node
    return {
        "id": names.of(node.id),
        "version": node.current_version,
        "subject": names.of(node.subject_id),
        "type": node.type,
        "object": names.of(node.object_id),
        "says": f"{titles.get(node.subject_id, '?')} {node.type} {titles.get(node.object_id, '?')}",
        **_validity(view.version),
        "sources": citations(view.support, names),
    }


def skill_line(skill: Skill, lessons: Iterable[LessonView], names: Names) -> Line:
    """Return a Skill with its lessons."""
    return {
        "skill": skill.slug,
        "name": skill.name,
        "text": skill.base_text,
        "lessons": [
            {
                "id": names.of(view.node.id),
                "version": view.node.version,
                "text": view.node.text,
                "origin": view.node.origin,
                "sources": citations(view.support, names),
            }
            for view in lessons
        ],
    }


def memo_line(view: MemoView | None, budget: int, names: Names) -> Line:
    """Return the resident memo of the base; version 0 is that of one not written yet."""
    if view is None:
        return {"version": 0, "budgetTokens": budget, "lines": []}
    lines = [{"text": line.node.text, "sources": citations(line.support, names)} for line in view.lines]
    return {"version": view.node.version, "budgetTokens": view.budget, "usedTokens": view.tokens, "lines": lines}


def citations(support: SupportView, names: Names) -> list[Line]:
    """Return what a statement cites, as far as it may be seen."""
    return [_citation(citation, names) for citation in support.citations]


def _citation(citation: CitationView, names: Names) -> Line:
    line = {
        "source": names.of(citation.source.id),
        "quote": citation.quote,
        "role": citation.role,
        "speaker": citation.source.speaker or citation.source.title,
        "at": shown_time(citation.source.occurred_at, citation.source.said_offset),
        "newerVersion": None if citation.source.latest else True,
    }
    return {key: value for key, value in line.items() if value not in (None, "")}


def _head(source: Source, names: Names) -> Line:
    at = shown_time(source.occurred_at, source.said_offset)
    line: Line = {"id": names.of(source.id), "kind": source.kind, "at": at}
    if source.kind == SourceKind.MESSAGE:
        line["speaker"] = source.speaker or "unknown"
    elif source.speaker:
        line["author"] = source.speaker
    if source.author_id:
        line["speakerId"] = names.of(source.author_id)
    if source.speaker_is_agent:
        line["agent"] = True
    if source.title:
        line["title"] = source.title
    return line


def _task(source: Source) -> Line:
    """Return the steps and the answer of a task, of which only the steps may be quoted (DR-48)."""
    meta: Mapping[str, Any] = source.meta
    steps = [
        {"action": step["action"], "outcome": step["outcome"], "text": source.text[step["start"] : step["end"]]}
        for step in meta.get("steps", ())
    ]
    final = meta.get("final") or {"start": 0, "end": 0}
    return {"state": meta.get("state"), "steps": steps, "finalAnswer": source.text[final["start"] : final["end"]]}


def _validity(statement: Any) -> Line:
    line: Line = {}
    if statement.valid_from is not None:
        line["validFrom"] = shown_date(statement.valid_from, statement.from_precision)
    if statement.valid_to is not None:
        line["validTo"] = shown_date(statement.valid_to, statement.to_precision)
    return line
