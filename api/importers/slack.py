"""Read a Slack export: a folder (or its zip) with `users.json`, `channels.json` and a JSON file per day."""

import html
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import Path as ZipPath

from api.importers.dates import Dates, Place
from api.importers.model import ChannelKind, ImportedMessage
from api.importers.streams import text_of

Folder = Path | ZipPath

_LISTS: Mapping[str, ChannelKind] = {
    "channels.json": "shared_channel",
    "groups.json": "private_chat",
    "mpims.json": "private_chat",
    "dms.json": "private_chat",
}
_MAX_NAME = 80
"""Characters of a channel's name in Slack; a file system takes 255 bytes."""
_SPOKEN = frozenset(("bot_message", "me_message", "thread_broadcast", "file_share", "file_comment"))
_DAY = re.compile(r"\d{4}-\d\d-\d\d\.json\Z")
_MARKUP = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Speaker:
    name: str
    is_agent: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class _Channel:
    folder: str
    name: str
    kind: ChannelKind


def read_slack(root: Folder, *, dates: Dates) -> Iterator[ImportedMessage]:
    """Yield the messages of all channels, channel by channel and day by day.

    The conversation is the day, the external id the time stamp `ts`, which Slack keeps unique within a
    channel; `message_changed` gives the new text under the old id, so that it becomes an edited message.
    Joins, topics and other notices are left out and counted by subtype. Private groups and direct messages
    are private chats. Mentions are written with names.

    Raises:
        ImportInvalid: `no_file`, `bad_json`, `bad_item`, `bad_field`, `bad_date`.
    """
    speakers = _speakers(_load(root, "users.json"))
    for channel in _channels(root, speakers):
        for day in sorted(item.name for item in (root / channel.folder).iterdir() if _DAY.match(item.name)):
            yield from _day(root, f"{channel.folder}/{day}", channel, speakers, dates)


def _load(root: Folder, name: str) -> list[dict[str, Any]]:
    file = root / name
    place = Place(file=name)
    if not file.is_file():
        raise place.invalid("no_file", "the export has no such file; give the folder that holds users.json")
    try:
        items = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        raise place.invalid("bad_json", "the file is not JSON, or is cut off; export it again") from None
    if not isinstance(items, list):
        raise place.invalid("bad_json", "the file is not a JSON array")
    for position, item in enumerate(items):
        if not isinstance(item, dict):
            raise Place(file=name, index=f"item {position}").invalid("bad_item", "an object was expected")
    return items


def _speakers(users: list[dict[str, Any]]) -> dict[str, _Speaker]:
    """Return speakers by user id; names that several users share get the unique handle added."""
    shown = {user["id"]: _display_name(user) for user in users if isinstance(user.get("id"), str)}
    counts = Counter(shown.values())
    return {
        user["id"]: _Speaker(
            name=name if counts[name] == 1 else f"{name} ({user.get('name') or user['id']})",
            is_agent=bool(user.get("is_bot")) or user["id"] == "USLACKBOT",
        )
        for user in users
        if isinstance(user.get("id"), str) and (name := shown[user["id"]])
    }


def _display_name(user: dict[str, Any]) -> str:
    profile = user.get("profile")
    profile = profile if isinstance(profile, dict) else {}
    candidates = (profile.get("display_name"), user.get("real_name"), profile.get("real_name"), user.get("name"))
    return next((name for name in candidates if isinstance(name, str) and name), str(user.get("id")))


def _channels(root: Folder, speakers: Mapping[str, _Speaker]) -> Iterator[_Channel]:
    """Yield the channels that have a folder; of the four lists only `channels.json` must be there."""
    for name, kind in _LISTS.items():
        if name != "channels.json" and not (root / name).is_file():
            continue
        for position, item in enumerate(_load(root, name)):
            place = Place(file=name, index=f"item {position}")
            folder = text_of(item, "id" if name == "dms.json" else "name", place)
            if "/" in folder or folder.startswith("."):
                raise place.invalid("bad_field", "a channel's name is not a folder name")
            if len(folder) <= _MAX_NAME and (root / folder).is_dir():
                yield _Channel(folder=folder, name=_channel_name(item, folder, speakers), kind=kind)


def _channel_name(item: dict[str, Any], folder: str, speakers: Mapping[str, _Speaker]) -> str:
    if "name" in item:
        return folder
    listed = item.get("members")
    listed = listed if isinstance(listed, list) else []
    members = [speakers[m].name for m in listed if isinstance(m, str) and m in speakers]
    return "dm: " + ", ".join(sorted(members)) if members else folder


def _day(
    root: Folder, file: str, channel: _Channel, speakers: Mapping[str, _Speaker], dates: Dates
) -> Iterator[ImportedMessage]:
    conversation = f"{channel.name}/{file.rpartition('/')[2].removesuffix('.json')}"
    for position, event in enumerate(_load(root, file)):
        place = Place(file=file, index=f"item {position}")
        spoken = _spoken(event, dates)
        if spoken is None:
            continue
        dates.tally.noted["attachment"] += _attached(spoken)
        text = _plain(spoken.get("text"), speakers)
        if not text:
            dates.tally.skipped["no_text"] += 1
            continue
        speaker = _speaker(spoken, speakers)
        dates.tally.messages += 1
        dates.tally.noted["edited"] += "edited" in spoken or event is not spoken
        stamp = text_of(spoken, "ts", place)
        yield ImportedMessage(
            channel=channel.name,
            conversation_key=conversation,
            external_id=stamp,
            speaker=speaker.name,
            sent_at=dates.epoch(stamp, place),
            text=text,
            thread=_thread(spoken),
            speaker_is_agent=speaker.is_agent,
            channel_kind=channel.kind,
        )


def _spoken(event: dict[str, Any], dates: Dates) -> dict[str, Any] | None:
    """Return what was said in an event, or None and count its subtype."""
    subtype = event.get("subtype")
    subtype = subtype if subtype is None or isinstance(subtype, str) else "other"
    if event.get("type", "message") != "message":
        dates.tally.skipped["no_message"] += 1
        return None
    if subtype == "message_changed" and isinstance(event.get("message"), dict):
        return _spoken(event["message"], dates) if event["message"] is not event else None
    if subtype is None or subtype in _SPOKEN:
        return event
    dates.tally.skipped[subtype if re.fullmatch(r"[a-z_]{1,40}", subtype) else "other"] += 1
    return None


def _speaker(event: dict[str, Any], speakers: Mapping[str, _Speaker]) -> _Speaker:
    is_bot = event.get("subtype") == "bot_message" or "bot_id" in event
    user = event.get("user")
    if isinstance(user, str) and user in speakers:
        return _Speaker(name=speakers[user].name, is_agent=is_bot or speakers[user].is_agent)
    profile = event.get("bot_profile") if is_bot else event.get("user_profile")
    named = profile.get("name") if isinstance(profile, dict) else None
    name = event.get("username") or named or user or event.get("bot_id") or "unknown"
    return _Speaker(name=str(name), is_agent=is_bot)


def _attached(event: dict[str, Any]) -> int:
    """Return how many files and cards hang on a message; none is taken in."""
    hung = (event.get(name) for name in ("files", "attachments"))
    return sum(len(part) for part in hung if isinstance(part, list))


def _thread(event: dict[str, Any]) -> str | None:
    stamp = event.get("thread_ts")
    return stamp if isinstance(stamp, str) and stamp else None


def _plain(text: object, speakers: Mapping[str, _Speaker]) -> str:
    """Return Slack's text as it is read: names for mentions, addresses bare, entities undone."""
    if not isinstance(text, str):
        return ""

    def readable(match: re.Match[str]) -> str:
        sign, target, label = match[1], match[2], match[3]
        if sign == "@":
            return "@" + (speakers[target].name if target in speakers else label or target)
        if sign == "#":
            return "#" + (label or target)
        if sign == "!":
            return label or "@" + target.partition("^")[0]
        return f"{label} ({target})" if label and label != target else target

    return html.unescape(_MARKUP.sub(readable, text)).strip()
