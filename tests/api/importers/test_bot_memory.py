"""JSON Lines of old bot memory: every kind of line, and what is refused with the line and the field alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from api.importers.bot_memory import read_bot_memory, read_bot_memory_file
from graph.model.errors import ImportInvalid
from graph.model.nodes.bots import Layer
from graph.rules.bot_old_memory import OldSource

ENTRY: dict[str, Any] = {
    "kind": "entry",
    "id": "mem_7c1e90ab34d25f68",
    "layer": "fact",
    "content": "Write the changelog.",
    "tags": ["releases", "for:person:u_1", "org:o_4"],
    "sources": [{"chat": "chat_61", "item": "i-08", "access": "person:u_1"}],
    "createdAt": 1_700_000_000_000,
}
OBSERVATION = {**ENTRY, "layer": "observation", "confidence": 0.5, "sources": [{"entry": "mem_1"}]}


def lines(*values: Any) -> list[str]:
    return [json.dumps(value) for value in values]


@pytest.mark.req("AD-21")
def test_a_file_holds_chats_items_entries_log_and_records(tmp_path: Path) -> None:
    common = {"chat": "chat_61", "turn": "t-1", "text": "stuck", "createdAt": 1}
    file = tmp_path / "old.jsonl"
    text = lines(
        {"kind": "chat", "id": "chat_61", "organization": "o_4", "person": "u_1", "createdAt": 1},
        {"kind": "item", "chat": "chat_61", "id": "i-08", "type": "app_result", "tool": "calendar", "occurredAt": 2},
        ENTRY,
        {**OBSERVATION, "id": "mem_2", "status": "retracted", "updatedAt": 3, "invalidatedAt": 4},
        {"kind": "log", "version": 1, "at": 5, "by": "promotion", "entries": ["mem_2"]},
        {"kind": "confession", **common, "answer": "calm"},
        {"kind": "enrichment", **common},
    )
    file.write_text("\ufeff" + "\n\n".join(text) + "\n", encoding="utf-8")

    old = read_bot_memory_file(file)

    fact, observation = old.entries
    assert (fact.layer, fact.tags, fact.updated_at) == (
        Layer.FACT,
        ("for:person:u_1", "org:o_4", "releases"),
        fact.created_at,
    )
    assert fact.sources == (OldSource(chat="chat_61", item="i-08", access="person:u_1"),)
    assert (observation.status, observation.confidence, observation.invalidated_at) == ("retracted", 0.5, 4)
    assert (old.chats[0].person, old.items[0].tool, old.log[0].by) == ("u_1", "calendar", "promotion")
    assert (old.confessions[0].answer, old.enrichments[0].original) == ("calm", None)


@pytest.mark.req("AD-21")
@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("no json", "JSON object"),
        ("[]", "JSON object"),
        ({**ENTRY, "kind": "secret"}, "kind"),
        ({key: ENTRY[key] for key in ENTRY if key != "content"}, "content"),
        ({**ENTRY, "secret": 1}, "unknown field"),
        ({**ENTRY, "createdAt": "1"}, "createdAt"),
        ({**ENTRY, "content": " "}, "content"),
        ({**ENTRY, "content": "secret\0"}, "content"),
        ({**ENTRY, "id": "ent_1"}, "id"),
        ({**ENTRY, "tags": ["Secret"]}, "tag"),
        ({**ENTRY, "tags": ["secret:x"]}, "tag"),
        ({**ENTRY, "tags": ["for:person:a|b", "org:o_4"]}, "id"),
        ({**ENTRY, "sources": [{"entry": "mem_1"}]}, "sources"),
        ({**ENTRY, "sources": [{"chat": "chat_61", "item": "i", "access": "everyone"}]}, "access"),
        ({**ENTRY, "confidence": 0.5}, "confidence"),
        ({**OBSERVATION, "confidence": 1.5}, "confidence"),
        ({**OBSERVATION, "sources": ENTRY["sources"]}, "sources"),
        ({**ENTRY, "layer": "pinned"}, "sources"),
        ({"kind": "chat", "id": "c", "organization": "o", "createdAt": 1}, "person or a channel"),
        ({"kind": "log", "version": 0, "at": 1, "by": "person", "entries": []}, "version"),
    ],
)
def test_a_line_that_does_not_fit_names_place_and_field_and_nothing_that_stands_there(line: Any, named: str) -> None:
    text = line if isinstance(line, str) else json.dumps(line)

    with pytest.raises(ImportInvalid) as caught:
        read_bot_memory(["", text], file="old.jsonl")

    assert caught.value.message.startswith("old.jsonl, line 2: ")
    assert named in caught.value.message
    assert "ecret" not in caught.value.message
    assert caught.value.details["reason"] == "bad_line"


@pytest.mark.req("AD-21")
@pytest.mark.parametrize("line", [ENTRY, {"kind": "log", "version": 1, "at": 1, "by": "person", "entries": []}])
def test_an_entry_and_a_version_are_there_once(line: dict[str, Any]) -> None:
    with pytest.raises(ImportInvalid) as caught:
        read_bot_memory(lines(line, line), file="old.jsonl")

    assert (caught.value.details["reason"], caught.value.details["line"]) == ("repeated", 2)


@pytest.mark.req("AD-21")
def test_a_file_that_is_no_text_or_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "old.jsonl").write_bytes(b"\xff\xfe")

    for name, reason in (("old.jsonl", "not_utf8"), ("none.jsonl", "no_file"), (".", "no_file")):
        with pytest.raises(ImportInvalid) as caught:
            read_bot_memory_file(tmp_path / name)
        assert caught.value.details["reason"] == reason
