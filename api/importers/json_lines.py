"""Read JSON Lines of messages, the form that `docs/how-to/import.md` describes."""

from collections.abc import Iterable, Iterator

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from api.importers.dates import Dates, Place
from api.importers.model import ChannelKind, ImportedMessage

_MAX_KEY = 200


class MessageLine(BaseModel):
    """One line of the file. Unknown fields are refused, so that a misspelt one is not lost silently."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, strict=True, hide_input_in_errors=True
    )

    channel: str = Field(min_length=1, max_length=_MAX_KEY)
    id: str = Field(min_length=1, max_length=_MAX_KEY)
    speaker: str = Field(min_length=1, max_length=_MAX_KEY)
    sent_at: str
    text: str = Field(min_length=1)
    conversation: str | None = Field(default=None, min_length=1, max_length=_MAX_KEY)
    thread: str | None = Field(default=None, min_length=1, max_length=_MAX_KEY)
    speaker_is_agent: bool = False
    channel_kind: ChannelKind = "shared_channel"


def read_json_lines(lines: Iterable[str], *, file: str, dates: Dates) -> Iterator[ImportedMessage]:
    """Yield the message of each line, in file order; empty lines are passed over.

    Args:
        lines: the lines of the file, decoded.
        file: its name, for errors.
        dates: reads the dates and counts assumed zones.

    Raises:
        ImportInvalid: `bad_line` (no JSON, a field missing, unknown or of a wrong type), `bad_date`,
            `no_zone`. Messages before that line have been yielded.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            place = Place(file=file, line=number)
            message = _message(_parse(line, place), dates, place)
            dates.tally.messages += 1
            yield message


def _parse(line: str, place: Place) -> MessageLine:
    try:
        return MessageLine.model_validate_json(line)
    except ValidationError as error:
        problems = {_problem(item["loc"], item["type"]) for item in error.errors(include_input=False)}
        raise place.invalid("bad_line", "; ".join(sorted(problems))) from None


def _problem(location: tuple[int | str, ...], kind: str) -> str:
    """Name a field and what is wrong with it; an unknown field's name is content and is not repeated."""
    if kind == "extra_forbidden":
        return "there is an unknown field; remove it or correct its name"
    if not location:
        return "this is not a JSON object"
    return f"field {location[0]}: {kind.replace('_', ' ')}"


def _message(line: MessageLine, dates: Dates, place: Place) -> ImportedMessage:
    return ImportedMessage(
        channel=line.channel,
        conversation_key=line.conversation or line.channel,
        external_id=line.id,
        speaker=line.speaker,
        sent_at=(sent_at := dates.iso(line.sent_at, place)),
        sent_offset=dates.offset(line.sent_at, sent_at),
        text=line.text,
        thread=line.thread,
        speaker_is_agent=line.speaker_is_agent,
        channel_kind=line.channel_kind,
    )
