import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from api.importers.model import ImportTally
from api.importers.read import Form, detect_form
from graph.model.errors import ImportInvalid
from tests.api.importers.support import FIXTURES, load

EXPORT = FIXTURES / "conversations.json"


def test_the_form_is_found_in_a_file_a_folder_and_a_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.write(EXPORT, "conversations.json")
    assert detect_form(EXPORT) is Form.CHATGPT
    assert detect_form(tmp_path / "export.zip") is Form.CHATGPT
    assert load(tmp_path / "export.zip") == load(EXPORT)


@pytest.mark.parametrize(("at", "byte"), [(b"conversations.json", 40), (b"PK\x01\x02", 0), (b"PK\x01\x02", 8)])
def test_a_zip_that_is_damaged_or_locked_is_told(tmp_path: Path, at: bytes, byte: int) -> None:
    """Its content, its list, and the mark of a password in it."""
    file = tmp_path / "export.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(EXPORT, "conversations.json")
    data = bytearray(file.read_bytes())
    data[data.index(at) + byte] ^= 1
    file.write_bytes(data)
    with pytest.raises(ImportInvalid) as refused:
        load(file)
    assert (refused.value.details["file"], refused.value.details["reason"]) == ("export.zip", "bad_zip")


def test_the_path_shown_at_the_end_is_read_and_no_other_branch() -> None:
    assert [(m.external_id, m.text) for m in load(EXPORT)] == [
        ("m1", "How long must dough rest?"),
        ("m4", "Two hours.\n\nLonger in winter."),
        ("m5", "谢谢"),
        ("x1", "Old export."),
    ]


def test_the_assistant_is_an_agent_and_every_chat_is_private() -> None:
    messages = load(EXPORT)
    assert [m.speaker_is_agent for m in messages] == [False, True, False, False]
    assert {m.speaker for m in messages} == {"user", "assistant"}
    assert {m.channel_kind for m in messages} == {"private_chat"}
    assert [m.conversation_key for m in messages] == ["c-1", "c-1", "c-1", "c-2"]


def test_a_message_without_time_takes_the_one_before_or_its_conversation() -> None:
    tally = ImportTally()
    messages = load(EXPORT, tally)
    assert [m.sent_at for m in messages] == [
        1_714_557_601_000,
        1_714_557_605_250,
        1_714_557_605_250,
        1_714_650_000_000,
    ]
    assert tally.noted["dated_by_conversation"] == 2


def test_what_is_left_out_is_counted_by_reason() -> None:
    tally = ImportTally()
    load(EXPORT, tally)
    assert +tally.skipped == {"system": 1, "tool": 1, "tool_call": 1, "hidden": 1, "other_branch": 1}
    assert tally.noted["attachment"] == 1
    assert tally.messages == 4


def node(parent: str | None, text: str = "canary") -> dict[str, Any]:
    message = {"id": "m", "author": {"role": "user"}, "content": {"content_type": "text", "parts": [text]}}
    return {"message": message, "parent": parent, "children": []}


@pytest.mark.parametrize(
    ("conversation", "reason"),
    [
        ({"mapping": {}, "title": "canary"}, "bad_field"),
        ({"id": "c", "mapping": ["canary"]}, "bad_field"),
        ({"id": "c", "mapping": {"a": "canary"}}, "bad_field"),
        ({"id": "c", "mapping": {"a": node("b"), "b": node("a")}, "current_node": "a"}, "bad_field"),
        ({"id": "c", "mapping": {}, "create_time": "canary"}, "bad_date"),
        ({"id": "c", "mapping": {}, "create_time": 1e300}, "bad_date"),
        ({"id": "c", "mapping": {}, "create_time": "nan"}, "bad_date"),
    ],
)
def test_a_wrong_conversation_is_named_by_its_place_without_its_content(
    tmp_path: Path, conversation: dict[str, Any], reason: str
) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([{"id": "ok", "mapping": {"a": node(None)}}, conversation]))
    with pytest.raises(ImportInvalid) as caught:
        load(file)
    assert (caught.value.details["reason"], caught.value.details["index"]) == (reason, "item 1")
    assert "canary" not in str(caught.value)


def test_a_file_that_is_cut_off_is_reported_after_its_sound_part(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([{"id": "ok", "mapping": {"a": node(None)}}, {"id": "canary"}])[:-9])
    with pytest.raises(ImportInvalid) as caught:
        load(file)
    assert caught.value.details == {"file": "conversations.json", "reason": "bad_json", "index": "item 1"}


@pytest.mark.parametrize("content", ["", "nonsense", "[]", '{"a": 1}', '[{"other": 1}]'])
def test_an_unknown_form_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(content)
    with pytest.raises(ImportInvalid) as caught:
        detect_form(file)
    assert caught.value.details["reason"] == "unknown_form"


@pytest.mark.parametrize("odd", [True, 5, "x", [[]], {"a": []}])
def test_a_field_of_another_kind_ends_no_import(tmp_path: Path, odd: object) -> None:
    export = json.loads(EXPORT.read_text())
    for node in export[0]["mapping"].values():
        message = node.get("message")
        if message:
            message["metadata"] = odd
            message["content"] = {"content_type": "text", "parts": odd} if message["id"] == "m1" else message["content"]
    (tmp_path / "conversations.json").write_text(json.dumps(export))
    assert "谢谢" in [message.text for message in load(tmp_path / "conversations.json")]


@pytest.mark.parametrize("kind", [[], {}, 5])
def test_content_of_an_odd_kind_is_left_out(tmp_path: Path, kind: object) -> None:
    export = json.loads(EXPORT.read_text())
    for node in export[0]["mapping"].values():
        if node.get("message") and node["message"]["id"] == "m1":
            node["message"]["content"]["content_type"] = kind
    (tmp_path / "conversations.json").write_text(json.dumps(export))
    tally = ImportTally()
    assert "m1" not in [message.external_id for message in load(tmp_path / "conversations.json", tally)]
    assert tally.skipped["other_content"]
