"""What a model is asked about a session: the facts that are known, and the items that came since. Source: SM-105."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from dreaming.consolidation import (
    ITEMS_CHARS,
    KNOWN_CHARS,
    MAX_OUTPUT_TOKENS,
    answer_schema,
    cut_text,
    fitting,
    section,
)
from dreaming.models.port import ChatMessage, ModelRequest, Role
from dreaming.prompts import load_prompt
from graph.model.fields import Json
from graph.model.ids import local_part
from graph.model.nodes.sessions import EntryStatus, FactKind, ItemType, SessionFact, SessionItem
from graph.model.time import render
from graph.rules.session_memory_text import Remembered

PURPOSE = "learn_session.changes"


def fitting_items(items: Sequence[SessionItem]) -> Sequence[SessionItem]:
    """Return the oldest items that fit one prompt; the others wait for the next turn."""
    return items[: fitting((len(item.text) for item in items), ITEMS_CHARS)]


def session_request(
    facts: Sequence[SessionFact], items: Sequence[SessionItem], people: Mapping[str, str]
) -> ModelRequest:
    """Return the question about unread items.

    Args:
        facts: the present memory; what was retracted is not shown.
        items: what is read; edits of the memory are no conversation and not shown (SM-39).
        people: what people are called, by id.
    """
    prompt = load_prompt("learn_session")
    shown = [item for item in items if item.type != ItemType.MEMORY_EDIT]
    text = "\n\n".join(
        [section("Facts", known_lines(facts)), section("Items", (_line(item, people) for item in shown))]
    )
    return ModelRequest(
        purpose=PURPOSE,
        prompt=prompt.id,
        messages=(ChatMessage(role=Role.SYSTEM, text=prompt.text), ChatMessage(role=Role.USER, text=text)),
        schema=answer_schema(FactKind, {"type": "string"}),
        max_output_tokens=MAX_OUTPUT_TOKENS,
        source_ids=tuple(item.id for item in shown),
    )


def known_lines(entries: Sequence[Remembered]) -> Sequence[Json]:
    """Return the lines of what is known, newest first: of the oldest, where there is much, the keys alone."""
    active = [entry for entry in entries if entry.status == EntryStatus.ACTIVE]
    newest = sorted(active, key=lambda entry: (-entry.updated_at, entry.key))
    lines = [{"key": entry.key, "kind": entry.kind, "content": entry.content} for entry in newest]
    whole = fitting((len(json.dumps(line, ensure_ascii=False)) for line in lines), KNOWN_CHARS)
    return [*lines[:whole], *({"key": line["key"]} for line in lines[whole:])]


def _line(item: SessionItem, people: Mapping[str, str]) -> Json:
    said = {"from": people[item.person_id]} if item.person_id is not None and item.person_id in people else {}
    return {
        "id": local_part(item.id),
        "at": render(item.occurred_at),
        "type": item.type,
        **said,
        **cut_text(item.text),
    }
