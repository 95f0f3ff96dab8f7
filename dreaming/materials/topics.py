"""Which entries a part of a material may be about: those that rest on it already, and those that share its words.

Each topic of a material is to be worked into the entry of that topic (MA-8), so the model must be shown it. Reads see
what the base reads (KN-54).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import log

from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Relation
from graph.services.access.session import Session
from graph.services.knowledge.sources import citing_statements
from graph.store.query import Match, Matches, TextIndex
from graph.text.words import analyze

MAX_ENTRIES = 30
MAX_WORDS = 400
_PARTS = ("name", "alias", "summary", "block")


async def entries_about(session: Session, material: Source, part: str) -> tuple[NodeId, ...]:
    """Return the entries for a part: first those that cite the material in any version, then the nearest by words.

    Call it when the session reads as the base does.
    """
    own = sorted({entry for node in await citing_statements(session, material.id) for entry in _entries_of(node)})
    near = await _by_words(session, f"{material.title or ''} {part}")
    return tuple(dict.fromkeys([*own, *near]))[:MAX_ENTRIES]


def _entries_of(statement: object) -> tuple[NodeId, ...]:
    if isinstance(statement, Relation):
        return (statement.subject_id, statement.object_id)
    entry = getattr(statement, "entry_id", None)
    return () if entry is None else (entry,)


async def _by_words(session: Session, text: str) -> list[NodeId]:
    words = tuple(sorted(word for word, _ in Counter(analyze(text)).most_common(MAX_WORDS)))
    if not words:
        return []
    found = await session.reader.match(session.viewer, Match(index=TextIndex.ENTRY, words=words, parts=_PARTS))
    weights = _weights(found)
    return sorted(weights, key=lambda id_: (-weights[id_], id_))


def _weights(found: Matches) -> Mapping[NodeId, float]:
    """Return how telling the words are that each entry shares with the part."""
    shared: dict[NodeId, set[str]] = {}
    for hit in found.hits:
        shared.setdefault(hit.item, set()).update(word for word, count in hit.counts.items() if count)
    return {id_: _worth(words, found) for id_, words in shared.items()}


def _worth(words: Iterable[str], found: Matches) -> float:
    return sum(log(1 + found.total / max(found.df.get(word, 1), 1)) for word in sorted(words))
