import json
from pathlib import Path
from typing import Any

import pytest

from api.importers.dates import parse_timezone
from api.importers.model import ImportTally
from api.importers.read import Form, detect_form
from graph.model.errors import ImportInvalid
from graph.model.time import render
from tests.api.importers.support import FIXTURES, load

UTC = parse_timezone("UTC")
TALK = FIXTURES / "talk.json"


def test_the_form_is_found_by_its_content() -> None:
    assert detect_form(TALK) is Form.LOCOMO


def test_sessions_come_in_the_order_of_their_numbers_with_turns_in_order() -> None:
    messages = load(TALK, timezone=UTC)
    assert [m.external_id for m in messages] == ["D1:1", "D1:2", "D2:1", "D10:1"]
    assert {m.channel for m in messages} == {"talk-1"}
    assert [m.conversation_key for m in messages][1:3] == ["talk-1/session_1", "talk-1/session_2"]
    assert [render(m.sent_at) for m in messages] == [
        "2024-02-29T12:30:00.000Z",
        "2024-02-29T12:30:00.001Z",
        "2024-03-01T09:05:00.000Z",
        "2024-03-09T00:00:00.000Z",
    ]


def test_the_caption_of_a_photo_is_part_of_the_text() -> None:
    assert load(TALK, timezone=UTC)[1].text == "Lovely! [photo: a photo of a red kite]"


def test_the_stated_zone_is_used_and_reported() -> None:
    tally = ImportTally()
    messages = load(TALK, tally, parse_timezone("Asia/Tokyo"))
    assert render(messages[0].sent_at) == "2024-02-29T03:30:00.000Z"
    assert (tally.assumed_timezone, tally.assumed_dates, tally.messages) == ("Asia/Tokyo", 3, 4)


def test_without_a_stated_zone_it_is_refused() -> None:
    with pytest.raises(ImportInvalid) as caught:
        load(TALK)
    assert caught.value.details == {"file": "talk.json", "reason": "no_zone", "index": "item 0, session_1"}


def sample(**talk: Any) -> list[Any]:
    return [{"sample_id": "s", "conversation": talk}]


@pytest.mark.parametrize(
    ("content", "reason", "index"),
    [
        ([{"conversation": "canary"}], "bad_field", "item 0"),
        (sample(session_1="canary", session_1_date_time="2024-01-01"), "bad_field", "item 0, session_1"),
        (sample(session_1=[], session_1_date_time="canary"), "bad_date", "item 0, session_1"),
        (sample(session_1=[]), "bad_field", "item 0, session_1"),
        (sample(session_1=["canary"], session_1_date_time="2024-01-01"), "bad_item", "item 0, session_1, turn 0"),
        (
            sample(session_1=[{"speaker": "canary", "dia_id": "1"}], session_1_date_time="2024-01-01"),
            "bad_field",
            "item 0, session_1, turn 0",
        ),
        ([{"conversation": {}}, 5], "bad_item", "item 1"),
    ],
)
def test_a_wrong_sample_is_named_by_its_place_without_its_content(
    tmp_path: Path, content: list[Any], reason: str, index: str
) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps(content))
    with pytest.raises(ImportInvalid) as caught:
        load(file, timezone=UTC)
    assert (caught.value.details["reason"], caught.value.details["index"]) == (reason, index)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("name", ["session_\u0663", "session_01", "session_\u00b2", f"session_{'1' * 5_000}"])
def test_what_only_looks_like_the_number_of_a_session_is_passed_over(tmp_path: Path, name: str) -> None:
    talk = json.loads(TALK.read_text())
    talk[0]["conversation"][name] = []
    (tmp_path / "talk.json").write_text(json.dumps(talk))
    assert load(tmp_path / "talk.json", timezone=UTC) == load(TALK, timezone=UTC)
