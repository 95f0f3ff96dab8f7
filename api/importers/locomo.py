"""Read the LoCoMo form: an array of samples, each a talk of two people in dated sessions.

A session has one date for all its turns; turn n is dated n milliseconds later, which keeps their order and
shows nowhere. Dates have no zone in this form. Source: Maharana et al., ACL 2024.
"""

import re
from collections.abc import Iterator
from typing import IO, Any

from api.importers.dates import Dates, Place
from api.importers.model import ImportedMessage
from api.importers.streams import array_items, text_of
from graph.model.time import Millis

_SESSION = re.compile(r"session_(0|[1-9][0-9]{0,8})\Z")
_DATE_FORMS = ("%I:%M %p on %d %B, %Y", "%Y年%m月%d日", "%Y-%m-%d %H:%M", "%Y-%m-%d")


def read_locomo(stream: IO[bytes], *, file: str, dates: Dates) -> Iterator[ImportedMessage]:
    """Yield the turns of all samples, in order.

    The channel is the sample's id, the conversation its session, the external id the turn's `dia_id`. A
    photo's caption is added to the text of its turn in brackets.

    Raises:
        ImportInvalid: `bad_json`, `bad_item`, `bad_field`, `bad_date`, `no_zone`.
    """
    for position, sample in array_items(stream, file=file):
        place = Place(file=file, index=f"item {position}")
        talk = sample.get("conversation")
        if not isinstance(talk, dict):
            raise place.invalid("bad_field", "the field conversation must be an object")
        channel = text_of(sample, "sample_id", place) if "sample_id" in sample else f"sample-{position}"
        for number in sorted(int(found[1]) for key in talk if (found := _SESSION.match(key))):
            yield from _session(talk, number, channel, place, dates)


def _session(talk: dict[str, Any], number: int, channel: str, sample: Place, dates: Dates) -> Iterator[ImportedMessage]:
    name = f"session_{number}"
    place = Place(file=sample.file, index=f"{sample.index}, {name}")
    turns = talk[name]
    if not isinstance(turns, list):
        raise place.invalid("bad_field", "a session must be an array of turns")
    start = dates.form(text_of(talk, f"{name}_date_time", place), _DATE_FORMS, place)
    for n, turn in enumerate(turns):
        at = Place(file=sample.file, index=f"{place.index}, turn {n}")
        if not isinstance(turn, dict):
            raise at.invalid("bad_item", "an object was expected")
        dates.tally.messages += 1
        yield ImportedMessage(
            channel=channel,
            conversation_key=f"{channel}/{name}",
            external_id=text_of(turn, "dia_id", at),
            speaker=text_of(turn, "speaker", at),
            sent_at=Millis(start + n),
            text=_text(turn, at),
        )


def _text(turn: dict[str, Any], place: Place) -> str:
    text = text_of(turn, "text", place)
    caption = turn.get("blip_caption")
    return f"{text} [photo: {caption}]" if isinstance(caption, str) and caption else text
