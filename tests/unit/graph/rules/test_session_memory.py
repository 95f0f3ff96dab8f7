"""What a session's memory takes, and how its switches are read."""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model.errors import InvalidRequest, SurfaceConflict
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.sessions import Session
from graph.model.time import Millis
from graph.rules.session_memory import (
    MAX_ACTIVE,
    Seen,
    Switches,
    check_room,
    check_seen,
    checked_content,
    checked_key,
    checked_kind,
    defaults,
    in_force,
    overrides,
)

SESSION = Session(
    id=NodeId("ses_w//s"),
    workspace=WorkspaceId("w"),
    created_at=Millis(0),
    agent_id=NodeId("prn_w/agent/a"),
    head="v-1",
    root_head="v-0",
    revision=3,
    updated_at=Millis(0),
)
ANY_TEXT = st.text(alphabet=st.characters(), max_size=140)  # lone surrogates too


@pytest.mark.req("SM-15")
@pytest.mark.parametrize("key", ["a", "a" * 128, "🚀" * 128, "a b", "e\u0301" * 128, "Venue", "\u200b"])
def test_a_key_of_128_characters_in_nfc_is_taken(key: str) -> None:
    assert checked_key(key) == unicodedata.normalize("NFC", key)


@pytest.mark.req("SM-15")
@pytest.mark.parametrize(
    "key",
    [
        "",
        "a" * 129,
        "🚀" * 129,
        " a",
        "a ",
        "a\u00a0",
        "\u3000a",
        "a\tb",
        "a\nb",
        "\x00",
        "\x7f",
        "\x85",
        "a\ud800",
        " ",
    ],
)
def test_any_other_key_is_refused_with_the_field(key: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        checked_key(key)
    assert refused.value.details["path"] == "command.key"


@pytest.mark.req("SM-15")
@given(key=ANY_TEXT)
def test_what_is_taken_has_the_right_form_and_stays_the_same_key(key: str) -> None:
    with suppress(InvalidRequest):
        taken = checked_key(key)
        assert checked_key(taken) == taken
        assert 1 <= len(taken) <= 128
        assert not [c for c in taken if unicodedata.category(c) in ("Cc", "Cs")]


@pytest.mark.req("SM-127")
def test_a_refusal_does_not_repeat_what_was_given() -> None:
    for check in (checked_key, checked_content, checked_kind):
        with pytest.raises(InvalidRequest) as refused:
            check("\0secret")
        assert "secret" not in refused.value.message


@pytest.mark.req("SM-4", "SM-15")
def test_keys_are_compared_in_nfc_and_with_case() -> None:
    assert checked_key("caf\u0065\u0301") == checked_key("caf\u00e9")
    assert checked_key("Venue") != checked_key("venue")


@pytest.mark.req("SM-16")
@pytest.mark.parametrize("key", ["a/b", "a.b", "__proto__", "constructor", "地点", "🚀", "a%2Fb", "$ref", '"', "\\"])
def test_any_other_text_is_an_ordinary_key(key: str) -> None:
    assert checked_key(key) == key


@pytest.mark.req("SM-5", "SM-17", "SM-18")
@pytest.mark.parametrize(
    "content", ["x", "x" * 4_000, "🚀" * 4_000, " x ", "a\nb\r\nc\u2028d", "<b>", "\u200b", "\x01"]
)
def test_a_content_is_taken_as_it_is(content: str) -> None:
    assert checked_content(content) == content


@pytest.mark.req("SM-17", "SM-18", "SM-63")
@pytest.mark.parametrize("content", ["", "x" * 4_001, "🚀" * 4_001, " ", "\n\u3000", "a\0b", "a\ud800", "\udfff"])
def test_any_other_content_is_refused_with_the_field(content: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        checked_content(content)
    assert refused.value.details["path"] == "command.content"


@pytest.mark.req("SM-6", "SM-63")
def test_a_kind_is_one_of_five() -> None:
    for kind in ("fact", "decision", "preference", "procedure", "hypothesis"):
        assert checked_kind(kind) == kind
    for other in ("note", "Fact", "", "fact "):
        with pytest.raises(InvalidRequest) as refused:
            checked_kind(other)
        assert refused.value.details["path"] == "command.kind"


@pytest.mark.req("SM-54")
@pytest.mark.parametrize(
    "seen", [Seen(head="v-0", revision=3), Seen(head="v-1", revision=2), Seen(head="", revision=0)]
)
def test_an_edit_of_another_state_is_stale(seen: Seen) -> None:
    with pytest.raises(SurfaceConflict) as refused:
        check_seen(SESSION, seen)
    assert (refused.value.tag, refused.value.reason) == ("SessionConflict", "stale")
    check_seen(SESSION, Seen(head="v-1", revision=3))


@pytest.mark.req("SM-19", "SM-58")
def test_a_thousand_facts_are_active_at_most() -> None:
    check_room(MAX_ACTIVE - 1)
    with pytest.raises(SurfaceConflict) as refused:
        check_room(MAX_ACTIVE)
    assert refused.value.reason == "memory_full"


@pytest.mark.req("SM-12", "SM-79", "SM-80", "SM-82")
@pytest.mark.parametrize(
    ("own", "setting", "expected"),
    [
        ((None, None), None, (True, True)),
        ((None, None), {}, (True, True)),
        ((None, None), {"use": False}, (False, True)),
        ((None, None), {"generate": False}, (True, False)),
        ((True, None), {"use": False, "generate": False}, (True, False)),
        ((False, True), {"use": True, "generate": False}, (False, True)),
        ((None, None), False, (False, False)),  # as earlier versions kept it
    ],
)
def test_a_switch_is_the_override_or_else_the_organizations_default(
    own: tuple[bool | None, bool | None], setting: Any, expected: tuple[bool, bool]
) -> None:
    session = replace(SESSION, use=own[0], generate=own[1])
    settings = None if setting is None else {"memory": setting}
    assert in_force(session, defaults(settings)) == Switches(use=expected[0], generate=expected[1])
    named = {"use": own[0], "generate": own[1]}
    assert overrides(session) == {name: value for name, value in named.items() if value is not None}
