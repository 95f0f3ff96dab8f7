"""Find out which form an export has, and read it."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import tzinfo
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

import ijson

from api.importers.chatgpt import read_chatgpt
from api.importers.dates import Dates, Place
from api.importers.json_lines import read_json_lines
from api.importers.locomo import read_locomo
from api.importers.model import ImportedMessage, ImportTally
from api.importers.slack import read_slack
from graph.model.errors import ImportInvalid
from graph.text.outside import has_surrogate, whole

_CONVERSATIONS = "conversations.json"
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)
_LOCKED = 1
"""Flag of a file in a zip that takes a password."""
_OF_SYSTEMS = frozenset(("__MACOSX", ".DS_Store"))


class Form(StrEnum):
    """The forms that can be imported; the values are those of `--format`."""

    JSON_LINES = "jsonl"
    LOCOMO = "locomo"
    SLACK = "slack"
    CHATGPT = "chatgpt"


def detect_form(path: Path) -> Form:
    """Return the form of an export, by its content; `.jsonl` and `.ndjson` by their name.

    Raises:
        ImportInvalid: `no_file`, `bad_zip`, or `unknown_form`.
    """
    if not path.exists():
        raise Place(file=path.name).invalid("no_file", "there is no such file or folder")
    if not _is_folder(path):
        return _detect_file(path)
    with _unpacking(path):
        names = {item.name for item in _folder(path).iterdir()}
    if {"users.json", "channels.json"} <= names:
        return Form.SLACK
    if _CONVERSATIONS in names:
        return Form.CHATGPT
    raise _unknown(path)


def read_export(path: Path, *, form: Form, timezone: tzinfo | None, tally: ImportTally) -> Iterator[ImportedMessage]:
    """Yield the messages of an export; files stay open only while it is consumed.

    Args:
        path: a file, a folder or a zip of one.
        form: as `detect_form` or the user says.
        timezone: for dates without one; None refuses them.
        tally: is filled on the way.

    Raises:
        ImportInvalid: with file, place and reason; what was yielded before it is sound.
    """
    with _unpacking(path):
        yield from map(_whole, _read(path, form, Dates(zone=timezone, tally=tally)))


def _whole(message: ImportedMessage) -> ImportedMessage:
    """Return a message whose texts the service takes: it refuses a whole batch for half of a surrogate pair."""
    texts = {name: getattr(message, name) for name in _TEXTS}
    broken: dict[str, Any] = {
        name: whole(text) for name, text in texts.items() if text is not None and has_surrogate(text)
    }
    return replace(message, **broken) if broken else message


_TEXTS = ("channel", "conversation_key", "external_id", "speaker", "text", "thread")


def _read(path: Path, form: Form, dates: Dates) -> Iterator[ImportedMessage]:
    if form is Form.SLACK:
        if not _is_folder(path):
            raise Place(file=path.name).invalid("no_file", "give the folder that holds users.json, or its zip")
        yield from read_slack(_folder(path), dates=dates)
        return
    with _opened(path) as stream:
        if form is Form.JSON_LINES:
            yield from read_json_lines(_lines(stream, path.name), file=path.name, dates=dates)
        elif form is Form.LOCOMO:
            yield from read_locomo(stream, file=path.name, dates=dates)
        else:
            yield from read_chatgpt(stream, file=path.name, dates=dates)


def _opened(path: Path) -> IO[bytes]:
    """Open the file, or the one that matters in a folder or zip."""
    if not path.exists():
        raise Place(file=path.name).invalid("no_file", "there is no such file or folder")
    if not _is_folder(path):
        return path.open("rb")
    file = _folder(path) / _CONVERSATIONS
    if not file.is_file():
        raise Place(file=path.name).invalid("no_file", f"there is no {_CONVERSATIONS} in it; give the file itself")
    return file.open("rb")


def _is_folder(path: Path) -> bool:
    return path.is_dir() or zipfile.is_zipfile(path)


def _folder(path: Path) -> Path | zipfile.Path:
    """Return the folder of an export, or of its zip; who packs one by hand puts a folder around it."""
    top = path if path.is_dir() else _opened_zip(path)
    inside = [item for item in top.iterdir() if item.name not in _OF_SYSTEMS]
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else top


def _opened_zip(path: Path) -> zipfile.Path:
    top = zipfile.Path(path)
    if any(info.flag_bits & _LOCKED for info in top.root.infolist()):
        raise Place(file=path.name).invalid("bad_zip", "the zip takes a password; give the folder that was packed")
    return top


@contextmanager
def _unpacking(path: Path) -> Iterator[None]:
    """Tell of a zip that does not open, or breaks while it is read."""
    try:
        yield
    except _DAMAGED as error:
        raise Place(file=path.name).invalid("bad_zip", "the zip is damaged; export it again") from error


def _lines(stream: IO[bytes], file: str) -> Iterator[str]:
    """Yield decoded lines; only line feeds end one."""
    for number, line in enumerate(stream, 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise Place(file=file, line=number).invalid("bad_line", "the line is not UTF-8") from None


def _detect_file(path: Path) -> Form:
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return Form.JSON_LINES
    try:
        with path.open("rb") as stream:
            for prefix, event, value in ijson.parse(stream):
                if prefix == "" and event != "start_array":
                    return _single(path)
                if (prefix, event, value) == ("item", "map_key", "mapping"):
                    return Form.CHATGPT
                if (prefix, event, value) == ("item", "map_key", "conversation"):
                    return Form.LOCOMO
    except (ijson.JSONError, UnicodeDecodeError):
        raise _unknown(path) from None
    raise _unknown(path)


def _single(path: Path) -> Form:
    """A file that begins with an object may be JSON Lines under another name."""
    with path.open("rb") as stream:
        first = stream.readline(1_000_000)
    if first.lstrip().startswith(b"{") and b'"sentAt"' in first:
        return Form.JSON_LINES
    raise _unknown(path)


def _unknown(path: Path) -> ImportInvalid:
    return Place(file=path.name).invalid(
        "unknown_form", "the form is not known; give JSON Lines, LoCoMo, a Slack export or a ChatGPT export"
    )
