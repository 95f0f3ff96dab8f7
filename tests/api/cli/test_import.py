"""`rootward import`: every form through the real service, private chats stay private, again changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.api.cli.support import Cli

FIXTURES = Path(__file__).parents[2] / "fixtures" / "importers"
FORMS = {"jsonl": "messages.jsonl", "locomo": "talk.json", "slack": "slack", "chatgpt": "conversations.json"}


def line(channel: str, id_: str, speaker: str, text: str, **more: object) -> str:
    given = {"channel": channel, "id": id_, "speaker": speaker, "sentAt": f"2025-05-10T09:{int(id_[1:]):02}:00Z"}
    return json.dumps({**given, "text": text, **more})


def chat(folder: Path, *lines: str) -> str:
    file = folder / "chat.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(file)


@pytest.mark.req("KN-65")
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_loaded_and_loading_it_again_changes_nothing(made: Cli, form: str) -> None:
    path = str(FIXTURES / FORMS[form])
    first = made.ok("import", path, "--agent", "atlas", "--timezone", "UTC")
    assert f"({form})" in first
    new = int(first.split("new ")[1].split(",")[0])
    assert new > 0
    made.ok("export", str(made.data_dir / "before"))
    again = made.ok("import", path, "--agent", "atlas", "--timezone", "UTC", "--form", form)
    assert f"new 0, known {new}, edited 0" in again
    made.ok("export", str(made.data_dir / "after"))
    kept = [(made.data_dir / when / "edges.jsonl").read_bytes() for when in ("before", "after")]
    assert kept[0] == kept[1]


@pytest.mark.req("KN-65", "KN-57")
def test_what_was_said_in_private_is_found_by_those_who_took_part_alone(made: Cli, tmp_path: Path) -> None:
    path = chat(
        tmp_path,
        line("kitchen", "k1", "Ana", "The oven is booked for Friday."),
        line("kitchen", "k2", "Rolf", "Good."),
        line("Ana and helper", "p3", "Ana", "The key of the oven lies under the mat.", channelKind="private_chat"),
        line("Ana and helper", "p4", "helper", "Noted.", channelKind="private_chat", speakerIsAgent=True),
    )
    shown = made.ok("import", path, "--agent", "helper", "--sign-in", "Ana", "--sign-in", "Rolf")
    assert "4 messages in 2 channels" in shown
    assert (made.data_dir / "ana.token").stat().st_mode & 0o777 == 0o600
    question = "Where is the key of the oven?"
    assert "under the mat" in made.ok("ask", question, "--as", "ana")
    assert "under the mat" not in made.ok("ask", question, "--as", "rolf")
    assert "booked for Friday" in made.ok("ask", question, "--as", "rolf")
    assert "hidden from Rolf" in made.ok("compare", question, "--as", "ana", "--with", "rolf")


def test_who_lets_nobody_in_is_told_how_and_reads_of_nothing_that_is_not_there(made: Cli, tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    content = {"content_type": "text", "parts": ["Hi"]}
    said = {"id": "m", "author": {"role": "user"}, "create_time": 1, "content": content}
    file.write_text(json.dumps([{"id": "c", "mapping": {"m": {"message": said}}, "current_node": "m"}]))
    shown = made.ok("import", str(file), "--agent", "helper")
    assert "1 message in 1 channel of helper" in shown
    assert "--sign-in SPEAKER" in shown
    assert "left out" not in shown
    assert "attachment" not in shown
    assert "--sign-in SPEAKER" not in made.ok("import", str(file), "--agent", "helper", "--sign-in", "user")


@pytest.mark.req("KN-64")
def test_an_edited_message_becomes_a_new_version(made: Cli, tmp_path: Path) -> None:
    made.ok("import", chat(tmp_path, line("k", "k1", "Ana", "old words")), "--agent", "helper", "--sign-in", "Ana")
    shown = made.ok("import", chat(tmp_path, line("k", "k1", "Ana", "new words")), "--agent", "helper")
    assert "new 0, known 0, edited 1" in shown
    found = made.ok("ask", "words", "--as", "ana")
    assert "new words" in found
    assert "old words" not in found


def test_a_damaged_export_is_refused_before_anything_is_written(made: Cli, tmp_path: Path) -> None:
    path = chat(tmp_path, line("k", "k1", "Ana", "a secret"), '{"channel": "k", "id": "k2"}')
    ran = made.run("import", path, "--agent", "helper")
    assert ran.code == 2
    assert "line 2" in ran.err
    assert "a secret" not in ran.err
    assert made.run("admin", "members", "channel:helper/k").code == 5


def test_dates_without_a_zone_are_refused_and_the_wrong_person_too(made: Cli, tmp_path: Path) -> None:
    path = str(FIXTURES / FORMS["locomo"])
    assert "--timezone" in made.run("import", path, "--agent", "helper").err
    ran = made.run("import", chat(tmp_path, line("k", "k1", "Ana", "x")), "--agent", "helper", "--sign-in", "Eve")
    assert ran.code == 2
    assert made.run("import", str(tmp_path / "none.json"), "--agent", "helper").code == 2


def test_names_of_other_alphabets_and_equal_slugs_stay_apart(made: Cli, tmp_path: Path) -> None:
    path = chat(
        tmp_path,
        line("茶", "k1", "梅", "one"),
        line("茶", "k2", "林", "two"),
        line("茶", "k3", "Ana", "three"),
        line("茶", "k4", "ana", "four"),
    )
    shown = made.ok("import", path, "--agent", "helper", "--sign-in", "梅")
    assert "4 messages in 1 channel of" in shown
    key = shown.split("--as ")[1].strip()
    assert "two" in made.ok("ask", "two", "--as", key)
