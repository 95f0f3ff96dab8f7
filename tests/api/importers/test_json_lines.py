import json
from pathlib import Path
from typing import Any

import pytest

from api.importers.dates import parse_timezone
from api.importers.model import ImportedMessage, ImportTally
from api.importers.read import Form, read_export
from graph.model.errors import BadInput, ImportInvalid
from tests.api.importers.support import FIXTURES, load

LINE: dict[str, Any] = {"channel": "c", "id": "1", "speaker": "Ana", "sentAt": "2025-05-10T00:00:00Z", "text": "hi"}


def written(folder: Path, *lines: str | bytes) -> Path:
    file = folder / "in.jsonl"
    file.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines))
    return file


def refusal(file: Path) -> ImportInvalid:
    with pytest.raises(ImportInvalid) as caught:
        list(read_export(file, form=Form.JSON_LINES, timezone=None, tally=ImportTally()))
    return caught.value


@pytest.mark.req("KN-65")
def test_each_line_becomes_a_message() -> None:
    tally = ImportTally()
    first, second, third = load(FIXTURES / "messages.jsonl", tally)
    assert first == ImportedMessage(
        channel="kitchen",
        conversation_key="kitchen",
        external_id="k1",
        speaker="Ana",
        sent_at=1_746_838_800_000,  # type: ignore[arg-type]
        sent_offset=480,
        text="The oven is booked for Friday.",
    )
    assert (second.conversation_key, second.thread, second.channel_kind) == ("kitchen-2", "k1", "private_chat")
    assert second.sent_at - first.sent_at == 330_250
    assert third.speaker_is_agent
    assert (tally.messages, tally.assumed_timezone) == (3, None)


@pytest.mark.parametrize(
    "change",
    [
        {"text": None}, {"text": ""}, {"text": 5}, {"canary": "x"}, {"speaker": "canary" * 100},
        {"speakerIsAgent": "yes"}, {"channelKind": "canary"},
    ],
)  # fmt: skip
def test_a_wrong_line_is_named_by_file_and_line_without_its_content(tmp_path: Path, change: dict[str, object]) -> None:
    bad = {key: value for key, value in {**LINE, **change}.items() if value is not None}
    error = refusal(written(tmp_path, json.dumps(LINE), "", json.dumps(bad)))
    assert (error.code, error.details["file"], error.details["line"]) == ("IMPORT_INVALID", "in.jsonl", 3)
    assert error.details["reason"] == "bad_line"
    assert "canary" not in str(error)


@pytest.mark.parametrize("line", ["canary", '{"channel": "canary"', "[1]", b"\xff\xfecanary"])
def test_a_line_that_is_no_json_object_is_refused(tmp_path: Path, line: str | bytes) -> None:
    error = refusal(written(tmp_path, line))
    assert error.details["line"] == 1
    assert "canary" not in str(error)


def test_messages_before_a_wrong_line_are_read(tmp_path: Path) -> None:
    file = written(tmp_path, json.dumps(LINE), "canary")
    found = read_export(file, form=Form.JSON_LINES, timezone=None, tally=ImportTally())
    assert next(found).text == "hi"
    with pytest.raises(ImportInvalid):
        next(found)


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    file = written(tmp_path, b"\xef\xbb\xbf" + json.dumps(LINE).encode() + b"\r", json.dumps(LINE))
    assert len(load(file)) == 2


@pytest.mark.parametrize(
    "date",
    [
        *("yesterday", "2025-05-10", "2025-05-10T25:00:00Z", "10.05.2025 12:00:00", "20250510T120000Z", ""),
        *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"),
    ],
)
def test_a_date_that_is_not_one_is_refused(tmp_path: Path, date: str) -> None:
    assert refusal(written(tmp_path, json.dumps({**LINE, "sentAt": date}))).details["reason"] == "bad_date"


def test_a_date_without_zone_is_refused_and_the_error_says_how_to_state_one(tmp_path: Path) -> None:
    error = refusal(written(tmp_path, json.dumps({**LINE, "sentAt": "2025-05-10T00:00:00"})))
    assert error.details["reason"] == "no_zone"
    assert "--timezone" in str(error)


@pytest.mark.parametrize(
    ("zone", "hours"), [("Asia/Shanghai", 8), ("+08:00", 8), ("-0330", -3.5), ("UTC", 0), ("America/New_York", -4)]
)
def test_a_date_without_zone_takes_the_stated_one_and_the_tally_says_which(
    tmp_path: Path, zone: str, hours: float
) -> None:
    naive = {**LINE, "id": "2", "sentAt": "2025-05-10T00:00:00"}
    file, tally = written(tmp_path, json.dumps(LINE), json.dumps(naive)), ImportTally()
    aware, assumed = load(file, tally, parse_timezone(zone))
    assert assumed.sent_at == aware.sent_at - hours * 3_600_000
    assert (aware.sent_offset, assumed.sent_offset) == (None, hours * 60)
    assert tally.assumed_dates == 1
    assert tally.assumed_timezone is not None


def test_the_zone_of_who_wrote_is_kept(tmp_path: Path) -> None:
    dates = ["2024-01-01T00:30:00+09:00", "2023-12-31T15:30:00Z"]
    file = written(tmp_path, *(json.dumps({**LINE, "id": date, "sentAt": date}) for date in dates))
    told, untold = load(file, ImportTally())
    assert told.sent_at == untold.sent_at
    assert (told.sent_offset, untold.sent_offset) == (540, None)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "+25:00", "+08:99", "", "../etc/passwd"])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(BadInput):
        parse_timezone(zone)
