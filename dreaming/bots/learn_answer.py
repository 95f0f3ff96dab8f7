"""What a Memory Bot answers when it learns; a malformed change is dropped, and the rest stands.

Source: BM-93, BM-94.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict, model_validator

from dreaming.models.answers import read_items
from graph.model.fields import Json
from graph.rules import bot_tags
from graph.rules.bot_learning import Invalidate, LearnFact, Observe, Proposal, RenameTopic, Retag, Share


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _Item(_Shape):
    chat: str
    item: str


class _Entry(_Shape):
    entry: str


class _Audience(_Shape):
    """Exactly one of the three."""

    channel: str | None = None
    person: str | None = None
    bot: Literal[True] | None = None

    @model_validator(mode="after")
    def _names_one(self) -> _Audience:
        if [self.channel, self.person, self.bot].count(None) != 2 or "" in (self.channel, self.person):
            raise ValueError("name one audience")
        return self

    @property
    def tag(self) -> str:
        """The `for:` tag of the audience."""
        if self.channel is not None:
            return f"{bot_tags.FOR_CHANNEL}{self.channel}"
        return bot_tags.FOR_BOT if self.person is None else f"{bot_tags.FOR_PERSON}{self.person}"


class _Fact(_Shape):
    content: str
    topics: list[str] = Field(default_factory=list)
    sources: list[_Item]

    def proposal(self) -> Proposal:
        sources = tuple((source.chat, source.item) for source in self.sources)
        return LearnFact(content=self.content, topics=tuple(self.topics), sources=sources)


class _Observe(_Shape):
    content: str
    topics: list[str] = Field(default_factory=list)
    sources: list[_Entry]
    # A number from 0 to 1 may be written as a whole one; true and "0.5" are none.
    confidence: Annotated[float, Strict(), Field(ge=0, le=1, allow_inf_nan=False)]

    def proposal(self) -> Proposal:
        return Observe(
            content=self.content,
            topics=tuple(self.topics),
            sources=tuple(source.entry for source in self.sources),
            confidence=self.confidence,
        )


class _Invalidate(_Shape):
    id: str

    def proposal(self) -> Proposal:
        return Invalidate(id=self.id)


class _Retag(_Shape):
    id: str
    topics: list[str]

    def proposal(self) -> Proposal:
        return Retag(id=self.id, topics=tuple(self.topics))


class _RenameTopic(_Shape):
    from_: str = Field(alias="from")
    to: str

    def proposal(self) -> Proposal:
        return RenameTopic(old=self.from_, new=self.to)


class _Share(_Shape):
    id: str
    audience: _Audience
    reason: str

    def proposal(self) -> Proposal:
        return Share(id=self.id, tag=self.audience.tag)


_Known = _Fact | _Observe | _Invalidate | _Retag | _RenameTopic | _Share
_SHAPES: Mapping[str, type[_Known]] = {
    "Fact": _Fact,
    "Observe": _Observe,
    "Invalidate": _Invalidate,
    "Retag": _Retag,
    "RenameTopic": _RenameTopic,
    "Share": _Share,
}


class LearnAnswer(BaseModel):
    """A list of changes, looked at one by one."""

    model_config = ConfigDict(strict=True)

    changes: list[Any]


def proposals(answer: LearnAnswer) -> tuple[list[Proposal], int]:
    """Return the well-formed changes in their order, and how many were malformed."""
    found: list[Proposal] = []
    for change in answer.changes:
        read = _read(change)
        if read is not None:
            found.append(read.proposal())
    return found, len(answer.changes) - len(found)


def _read(change: Json) -> _Known | None:
    shape = _SHAPES.get(str(change.get("_tag"))) if isinstance(change, dict) else None
    if shape is None:
        return None
    good = read_items([change], shape).good
    return good[0][1] if good else None
