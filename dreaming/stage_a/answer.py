"""The answer of Stage A: its form, and the check that it accounts for every message once (DR-21, DR-22)."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from graph.rules.stage_a import Batch, Conclusion, EpisodeDraft, Split, faults_of


def _composed(value: Any) -> Any:
    """Return a text in NFC, the form in which the contract counts characters."""
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def _text(most: int | None = None) -> StringConstraints:
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=most)


Topic = Annotated[str, BeforeValidator(_composed), _text(120)]
Summary = Annotated[str, BeforeValidator(_composed), _text(2_000)]
Question = Annotated[str, BeforeValidator(_composed), _text(200)]
System = Annotated[str, BeforeValidator(_composed), _text(80)]
Stated = Annotated[str, BeforeValidator(_composed), _text()]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel, hide_input_in_errors=True)


class ConclusionShape(_Shape):
    """One conclusion with the messages behind it."""

    text: Stated
    message_ids: list[str] = Field(min_length=1)


class EpisodeShape(_Shape):
    """One episode."""

    topic: Topic
    summary: Summary
    questions: list[Question] = Field(min_length=1, max_length=8)
    conclusions: list[ConclusionShape] = Field(max_length=12)
    systems: list[System] = Field(max_length=20)
    side_topic: bool
    message_ids: list[str] = Field(min_length=1)


class SplitShape(_Shape):
    """The whole answer."""

    episodes: list[EpisodeShape]
    skipped: list[str]
    open: list[str]

    def split(self) -> Split:
        """Return the answer as a value."""
        return Split(
            episodes=tuple(_draft(episode) for episode in self.episodes),
            skipped=tuple(self.skipped),
            open=tuple(self.open),
        )


def shape_for(batch: Batch) -> type[SplitShape]:
    """Return the form of an answer about this batch; one that leaves a message out does not have it."""

    class Checked(SplitShape):
        @model_validator(mode="after")
        def _accounts_for_each(self) -> Checked:
            faults = faults_of(self.split(), batch.names, may_stay_open=batch.may_stay_open)
            if faults:  # a message of the model's own library, so that it is told: it holds no content
                raise PydanticCustomError("messages", "{faults}", {"faults": "; ".join(faults)})
            return self

    return Checked


def _draft(episode: EpisodeShape) -> EpisodeDraft:
    return EpisodeDraft(
        topic=episode.topic,
        summary=episode.summary,
        questions=tuple(episode.questions),
        conclusions=tuple(Conclusion(text=c.text, messages=tuple(c.message_ids)) for c in episode.conclusions),
        systems=tuple(episode.systems),
        side_topic=episode.side_topic,
        messages=tuple(episode.message_ids),
    )
