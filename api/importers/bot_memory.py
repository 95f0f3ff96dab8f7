"""Read JSON Lines of old bot memory, the form that `docs/how-to/import.md` describes (AD-21).

Every line is an object with a `kind`. The order of lines does not matter. The whole file is read before anything is
written; an error names the line and the field, never what stands there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from api.importers.dates import Place
from graph.model.errors import BadInput
from graph.model.ids import WorkspaceId, hosted_id
from graph.model.nodes.bots import Layer
from graph.model.time import Millis
from graph.rules import bot_old_memory as old

_Time = Annotated[int, Field(ge=0, le=253_402_300_799_999)]
_Local = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,128}$")]
_Text = Annotated[str, Field(max_length=1_000_000)]
_Type = Literal["person_message", "agent_message", "tool_result", "app_result", "notification", "memory_edit"]


class _Line(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, strict=True, hide_input_in_errors=True
    )


class ChatLine(_Line):
    """A chat with one person, or of a channel group."""

    kind: Literal["chat"]
    id: _Local
    organization: _Local
    person: _Local | None = None
    channel: _Local | None = None
    created_at: _Time

    def value(self) -> old.OldChat:
        """Return what it says."""
        if (self.person is None) == (self.channel is None):
            raise BadInput("a chat has a person or a channel", field="person")
        return old.OldChat(
            id=self.id,
            organization=self.organization,
            person=self.person,
            channel=self.channel,
            created_at=Millis(self.created_at),
        )


class ItemLine(_Line):
    """An item of a chat, without its text."""

    kind: Literal["item"]
    chat: _Local
    id: _Local
    type: _Type
    tool: _Local | None = None
    occurred_at: _Time

    def value(self) -> old.OldItem:
        """Return what it says."""
        return old.OldItem(
            chat=self.chat, id=self.id, type=self.type, tool=self.tool, occurred_at=Millis(self.occurred_at)
        )


class SourceLine(_Line):
    """A source of an entry: an item with or without its access record, or an entry."""

    chat: _Local | None = None
    item: _Local | None = None
    access: str | None = None
    entry: str | None = None

    def value(self, layer: Layer) -> old.OldSource:
        """Return what it says, as a source of an entry of this layer."""
        if layer is Layer.FACT and self.chat is not None and self.item is not None and self.entry is None:
            if self.access is not None:
                old.access_rule(_ANY, hosted_id("prn", _ANY, "b"), self.access)
            return old.OldSource(chat=self.chat, item=self.item, access=self.access)
        if layer is Layer.OBSERVATION and self.entry is not None and {self.chat, self.item, self.access} == {None}:
            return old.OldSource(entry=_entry_id(self.entry))
        raise BadInput("a fact has items as sources, an observation entries, a pinned entry none", field="sources")


class EntryLine(_Line):
    """An entry."""

    kind: Literal["entry"]
    id: str
    layer: Literal["fact", "observation", "pinned"]
    content: str
    tags: list[str]
    sources: list[SourceLine] = []
    status: Literal["active", "retracted"] = "active"
    confidence: float | None = Field(default=None, ge=0, le=1)
    created_at: _Time
    updated_at: _Time | None = None
    invalidated_at: _Time | None = None
    removed_tags: list[str] = []
    excluded: list[_Local] = []

    def value(self) -> old.OldEntry:
        """Return what it says."""
        layer = Layer(self.layer)
        if (layer is Layer.OBSERVATION) != (self.confidence is not None):
            raise BadInput("an observation has a confidence, other layers have none", field="confidence")
        return old.OldEntry(
            id=_entry_id(self.id),
            layer=layer,
            content=old.check_old_content(self.content),
            tags=old.check_tags(self.tags),
            sources=tuple(source.value(layer) for source in self.sources),
            status=self.status,
            confidence=self.confidence,
            created_at=Millis(self.created_at),
            updated_at=Millis(self.created_at if self.updated_at is None else self.updated_at),
            invalidated_at=None if self.invalidated_at is None else Millis(self.invalidated_at),
            removed_tags=old.check_tags(self.removed_tags),
            excluded=tuple(self.excluded),
        )


class LogLine(_Line):
    """One version of the log."""

    kind: Literal["log"]
    version: Annotated[int, Field(ge=1, le=2**53)]
    at: _Time
    by: Literal["memory_bot", "person", "promotion"]
    entries: list[str]

    def value(self) -> old.OldChange:
        """Return what it says."""
        return old.OldChange(version=self.version, at=Millis(self.at), by=self.by, entries=tuple(self.entries))


class ConfessionLine(_Line):
    """What a bot confided and what it was answered."""

    kind: Literal["confession"]
    chat: _Local
    turn: _Local
    text: _Text
    answer: _Text | None = None
    entries: list[str] = []
    created_at: _Time

    def value(self) -> old.OldConfession:
        """Return what it says."""
        return old.OldConfession(
            chat=self.chat,
            turn=self.turn,
            text=self.text,
            answer=self.answer,
            entries=tuple(self.entries),
            created_at=Millis(self.created_at),
        )


class EnrichmentLine(_Line):
    """How the input of a turn was rewritten; older ones have no `original`."""

    kind: Literal["enrichment"]
    chat: _Local
    turn: _Local
    text: _Text
    original: _Text | None = None
    entries: list[str] = []
    created_at: _Time

    def value(self) -> old.OldEnrichment:
        """Return what it says."""
        return old.OldEnrichment(
            chat=self.chat,
            turn=self.turn,
            text=self.text,
            original=self.original,
            entries=tuple(self.entries),
            created_at=Millis(self.created_at),
        )


_LINE: TypeAdapter[ChatLine | ItemLine | EntryLine | LogLine | ConfessionLine | EnrichmentLine] = TypeAdapter(
    Annotated[ChatLine | ItemLine | EntryLine | LogLine | ConfessionLine | EnrichmentLine, Field(discriminator="kind")]
)
_ANY = WorkspaceId("w")


def read_bot_memory_file(path: Path) -> old.OldMemory:
    """Return everything that a file of old bot memory holds.

    Raises:
        ImportInvalid: as `read_bot_memory`; ``not_utf8``; ``no_file``.
    """
    place = Place(file=path.name)
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise place.invalid("not_utf8", "the file is not UTF-8: export it again") from None
    except OSError:
        raise place.invalid("no_file", "the file cannot be read: give the path of a file") from None
    return read_bot_memory(lines, file=path.name)


def read_bot_memory(lines: Iterable[str], *, file: str) -> old.OldMemory:
    """Return everything that a file of old bot memory holds; empty lines are passed over.

    Args:
        lines: the lines of the file, decoded.
        file: its name, for errors.

    Raises:
        ImportInvalid: ``bad_line``: no JSON, a field missing, unknown, of a wrong type or value; ``repeated``: an
            entry or a version of the log is there twice.
    """
    found: dict[type, list[Any]] = {}
    seen: set[tuple[str, str]] = set()
    for place, value in _values(lines, file):
        if isinstance(value, old.OldEntry | old.OldChange):
            name = ("entry", value.id) if isinstance(value, old.OldEntry) else ("log", str(value.version))
            if name in seen:
                raise place.invalid("repeated", f"this {name[0]} is in the file already: give it once")
            seen.add(name)
        found.setdefault(type(value), []).append(value)
    return old.OldMemory(
        chats=tuple(found.get(old.OldChat, ())),
        items=tuple(found.get(old.OldItem, ())),
        entries=tuple(found.get(old.OldEntry, ())),
        log=tuple(found.get(old.OldChange, ())),
        confessions=tuple(found.get(old.OldConfession, ())),
        enrichments=tuple(found.get(old.OldEnrichment, ())),
    )


def _values(lines: Iterable[str], file: str) -> Iterator[tuple[Place, Any]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = Place(file=file, line=number)
        try:
            yield place, _LINE.validate_json(line).value()
        except ValidationError as error:
            raise place.invalid("bad_line", _problem(error)) from None
        except BadInput as error:
            raise place.invalid("bad_line", error.message) from None


def _problem(error: ValidationError) -> str:
    """Name the first field that is wrong, and how; an unknown field's name is content and is not repeated."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    kind = first["type"]
    if kind == "extra_forbidden":
        return "there is an unknown field; remove it or correct its name"
    if kind.startswith("union_tag"):
        return "field kind: chat, item, entry, log, confession or enrichment"
    field = ".".join(str(step) for step in first["loc"][1:])
    return f"field {field}: {kind.replace('_', ' ')}" if field else "this is not a JSON object"


def _entry_id(text: str) -> str:
    if not old.is_entry_id(text):
        raise BadInput("the id of an entry is mem_ and 1 to 64 letters, digits or -", field="id")
    return text
