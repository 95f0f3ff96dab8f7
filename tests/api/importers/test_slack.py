import json
import shutil
import zipfile
from pathlib import Path

import pytest

from api.importers.model import ImportedMessage, ImportTally
from api.importers.read import Form, detect_form
from graph.model.errors import ImportInvalid
from tests.api.importers.support import FIXTURES, load

SLACK = FIXTURES / "slack"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SLACK, tmp_path / "export"))


def by_id(messages: list[ImportedMessage], external_id: str) -> list[ImportedMessage]:
    return [m for m in messages if m.external_id == external_id]


def test_the_form_is_found_in_a_folder_and_in_a_zip(tmp_path: Path) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "export"), "zip", SLACK))
    assert detect_form(SLACK) is detect_form(archive) is Form.SLACK
    assert load(archive) == load(SLACK)


def test_one_folder_around_an_export_is_passed(tmp_path: Path) -> None:
    around = tmp_path / "around"
    shutil.copytree(SLACK, around / "export")
    (around / "__MACOSX").mkdir()
    archive = Path(shutil.make_archive(str(tmp_path / "export"), "zip", around))
    assert load(archive) == load(around) == load(SLACK)


def test_what_hangs_on_messages_is_counted(copy: Path) -> None:
    files = [{"id": "F1"}, {"id": "F2"}]
    said = {"ts": "1714521600.000900", "user": "U1", "text": "two files", "files": files, "attachments": [{"id": 1}]}
    (copy / "general" / "2024-05-03.json").write_text(json.dumps([said]))
    before, after = ImportTally(), ImportTally()
    load(SLACK, before)
    load(copy, after)
    assert after.noted["attachment"] == before.noted["attachment"] + 3


def test_days_come_in_order_and_are_the_conversations() -> None:
    general = [m for m in load(SLACK) if m.channel == "general"]
    assert [m.conversation_key for m in general] == ["general/2024-05-01"] * 4 + ["general/2024-05-02"] * 2
    assert general[0].sent_at == 1_714_521_600_000
    assert general[0].external_id == "1714521600.000200"


def test_replies_name_the_message_that_began_their_thread() -> None:
    messages = load(SLACK)
    assert by_id(messages, "1714521700.000300")[0].thread == "1714521600.000200"
    assert by_id(messages, "1714521800.000400")[0].thread is None


@pytest.mark.req("KN-64")
def test_an_edit_gives_the_new_text_under_the_old_id() -> None:
    old, new = by_id(load(SLACK), "1714521700.000300")
    assert (old.text, new.text) == ("The red one", "It is the blue one (https://example.org/blue) now")
    assert old.sent_at == new.sent_at


def test_markup_is_written_as_it_is_read() -> None:
    messages = load(SLACK)
    assert messages[0].text == "@Rolf Beck which oven? See #general & https://example.org"
    assert messages[2].text == "@here done"
    assert by_id(messages, "1714608000.000100")[0].text == "Build <42> passed"


def test_two_people_of_one_name_stay_two() -> None:
    assert {m.speaker for m in load(SLACK)} == {
        "Ana (ana.k)",
        "Ana (ana.m)",
        "Rolf Beck",
        "Deploy Bot",
        "ci",
        "guest",
    }


def test_programs_are_marked() -> None:
    assert {m.speaker for m in load(SLACK) if m.speaker_is_agent} == {"Deploy Bot", "ci"}


def test_groups_and_direct_messages_are_private() -> None:
    kinds = {m.channel: m.channel_kind for m in load(SLACK)}
    assert kinds == {
        "general": "shared_channel",
        "ops-private": "private_chat",
        "dm: Ana (ana.k), Rolf Beck": "private_chat",
    }


def test_what_is_left_out_is_counted() -> None:
    tally = ImportTally()
    messages = load(SLACK, tally)
    assert tally.messages == len(messages) == 9
    assert tally.skipped == {"channel_join": 1, "no_text": 1}
    assert tally.noted["edited"] == 2


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("users.json", "canary", "bad_json"),
        ("users.json", "{}", "bad_json"),
        ("channels.json", '["canary"]', "bad_item"),
        ("channels.json", '[{"name": "../canary"}]', "bad_field"),
        ("channels.json", '[{"id": "canary"}]', "bad_field"),
        ("general/2024-05-01.json", '[{"canary": ', "bad_json"),
        ("general/2024-05-01.json", json.dumps([{"text": "canary", "user": "U1"}]), "bad_field"),
        ("general/2024-05-01.json", json.dumps([{"text": "canary", "ts": "canary"}]), "bad_date"),
    ],
)
def test_a_wrong_file_is_named_without_its_content(copy: Path, name: str, content: str, reason: str) -> None:
    (copy / name).write_text(content)
    with pytest.raises(ImportInvalid) as caught:
        load(copy)
    assert (caught.value.details["file"], caught.value.details["reason"]) == (name, reason)
    assert "canary" not in str(caught.value)


def test_a_folder_that_is_no_export_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportInvalid) as caught:
        load(tmp_path)
    assert caught.value.details["reason"] == "unknown_form"
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a.txt", "x")
    with pytest.raises(ImportInvalid):
        detect_form(tmp_path / "x.zip")


@pytest.mark.parametrize("odd", [None, True, 5, "x", [[]], {"a": []}])
def test_a_field_of_another_kind_ends_no_import(copy: Path, odd: object) -> None:
    """What the form knows no use of is passed over; what it needs is refused by name."""
    (copy / "dms.json").write_text(json.dumps([{"id": "D1", "members": odd}]))
    (copy / "D1").mkdir(exist_ok=True)
    said = {"type": "message", "text": "hello", "ts": "1714557600.000100"}
    (copy / "D1" / "2024-05-01.json").write_text(json.dumps([said, {**said, "subtype": odd, "ts": "1714557601.0"}]))
    users = json.loads((copy / "users.json").read_text())
    (copy / "users.json").write_text(json.dumps([*users, {"id": odd, "name": "odd"}]))
    assert "hello" in [message.text for message in load(copy)]


def test_half_of_a_surrogate_pair_becomes_a_character_that_the_service_takes(copy: Path) -> None:
    said = {"type": "message", "text": "half \ud83d", "username": "\udfff", "ts": "1714557600.000100"}
    (copy / "general" / "2024-05-01.json").write_text(json.dumps([said]))
    assert ("\ufffd", "half \ufffd") in [(message.speaker, message.text) for message in load(copy)]
