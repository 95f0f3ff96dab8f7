"""What is embedded, under which names vectors are kept, and whether a vector fits. Pure.

A text names who said it and when, or the entry that it belongs to: without the speaker recall falls by two thirds.
Source: RE-8, RE-10, RE-32.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from graph.model.fields import Node
from graph.model.ids import NodeId, node_id
from graph.model.nodes.evidence import Episode, MessageVector, Source, WindowVector
from graph.model.time import Millis, to_datetime
from graph.ports import EmbeddingChoice
from graph.rules.ingest import Window
from graph.rules.knowledge_settings import Settings

EMBED: Final = "embed"
"""The kind of job that makes vectors."""
NOT_EMBEDDED: Final = ""
"""What stands in `embedding_model` of a node whose vectors are to be made."""
NO_VECTOR: Final = "-"
"""What stands there of a node that is to have none: its text was erased."""
_REFUSED: Final = "!"
MAX_CHARACTERS: Final = 8_000
"""Of a text that is embedded: more than any of the usual models takes in."""
_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


class VectorKind(StrEnum):
    """What has vectors, as people see it."""

    BLOCK = "block"
    EPISODE = "episode"
    MESSAGE = "message"


def choice_of(settings: Settings) -> EmbeddingChoice | None:
    """Return the embedder that the settings name; None if they name none."""
    provider, model = settings["embedding.provider"], settings["embedding.model"]
    if not provider or not model:
        return None
    return EmbeddingChoice(provider=provider, model=model, dimensions=settings["embedding.dimensions"])


def message_text(source: Source) -> str:
    """Return the text of one message: who, when, what."""
    return _cut(f"{source.speaker or 'someone'} ({day_in_words(source.occurred_at)}): {source.text}")


def window_text(window: Window) -> str:
    """Return the text of a message with its neighbours, a line each."""
    return _cut("\n".join(message_text(member) for member in window.members))


def block_text(name: str, text: str) -> str:
    """Return the text of a block: the name of its entry, then what it says."""
    return _cut(f"{name}: {text}")


def episode_text(episode: Episode) -> str:
    """Return the text of an episode: what it is about, when it was, its summary."""
    return _cut(f"{episode.topic} ({day_in_words(episode.from_at)}): {episode.summary}")


def day_in_words(at: Millis) -> str:
    """Return the day as people write it, in UTC.

    >>> day_in_words(Millis(1_683_417_600_000))
    '7 May 2023'
    """
    day: datetime = to_datetime(at)
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def message_vector_id(source: NodeId) -> NodeId:
    """Return the id of the vector of a message alone.

    >>> source_of(message_vector_id(NodeId("src_01")))
    'src_01'
    """
    return node_id(MessageVector.PREFIX, source.partition("_")[2])


def window_vector_id(source: NodeId) -> NodeId:
    """Return the id of the vector of a message with its neighbours."""
    return node_id(WindowVector.PREFIX, source.partition("_")[2])


def source_of(vector: NodeId) -> NodeId:
    """Return the message that a vector is of."""
    return node_id(Source.PREFIX, vector.partition("_")[2])


def to_bytes(vector: Sequence[float]) -> bytes:
    """Return a vector as it is stored: float32, little endian."""
    return struct.pack(f"<{len(vector)}f", *vector)


def size_of(stored: bytes) -> int:
    """Return how many numbers a stored vector has."""
    return len(stored) // 4


def is_usable(vector: Sequence[float]) -> bool:
    """True if a vector has a direction: finite numbers, not all of them zero."""
    try:
        return all(map(math.isfinite, vector)) and any(vector)
    except (TypeError, OverflowError):  # an embedder of the host's own may give anything
        return False


def refused_by(model: str) -> str:
    """Return what stands in `embedding_model` of a node whose text the model did not take."""
    return f"{_REFUSED}{model}"


def to_be_embedded(stored: Iterable[str], current: str) -> list[str]:
    """Return what stands in `embedding_model` of nodes whose vectors are to be made, in order.

    Args:
        stored: what stands there in the store.
        current: the model in force; what another one made, or did not take, counts as not made.

    >>> to_be_embedded(["", "a", "b", "!b", "-", "!a"], "b")
    ['', '!a', 'a']
    """
    return sorted({NOT_EMBEDDED, *stored} - {current, refused_by(current), NO_VECTOR})


VECTOR_NODES: Final[tuple[type[Node], ...]] = (MessageVector, WindowVector)
"""Kinds that hold nothing but a vector."""


def _cut(text: str) -> str:
    return text[:MAX_CHARACTERS]
