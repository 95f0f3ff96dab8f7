"""What the candidates of a search lend each other: hits of one talk, hits close to each other, hits of one entry.

Source: RE-17, ADR 0051.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from graph.rules.strength import shares


@dataclass(frozen=True, kw_only=True)
class GraphCandidate:
    """What the graph gives for a candidate; everything but id and strength may be left empty.

    Attributes:
        id: of the entry, episode or message.
        strength: how strongly the routes speak for it, at least 0; see `graph.rules.strength`.
        is_entry: an entry, whose hit lifts what it rests on.
        names: who speaks in it, or for an entry its name and aliases.
        first_day: the day it was said, began or holds from.
        last_day: the last such day; None for the first.
        group: id of the thread, or else of the conversation, it belongs to.
        place: what orders the messages of a group; None for what has no place there.
        before: id of the message directly before it in the talk.
        tokens: how much a message says; None for what is no message.
        asks: a message that ends with a question.
        tells_time: a message that names a time.
        sources: ids of the raw sources it is or rests on.
    """

    id: str
    strength: float
    is_entry: bool = False
    names: tuple[str, ...] = ()
    first_day: date | None = None
    last_day: date | None = None
    group: str | None = None
    place: tuple[int, int] | None = None
    before: str | None = None
    tokens: int | None = None
    asks: bool = False
    tells_time: bool = False
    sources: frozenset[str] = field(default_factory=frozenset)


def group_strength(
    candidates: Iterable[GraphCandidate], bases: Mapping[str, float], hits: int
) -> dict[str | None, float]:
    """Return for each group the sum of its best hits, 1 for the strongest group."""
    members: dict[str | None, list[float]] = {}
    for candidate in candidates:
        members.setdefault(candidate.group, []).append(bases[candidate.id])
    strength = {group: sum(sorted(found, reverse=True)[:hits]) for group, found in members.items()}
    strongest = max((value for group, value in strength.items() if group is not None), default=0.0)
    return {group: value / strongest if strongest > 0 else 0.0 for group, value in strength.items()}


def near_strength(candidates: Iterable[GraphCandidate], bases: Mapping[str, float], share: float) -> dict[str, float]:
    """Return what the found messages around each one in its group lend it, 1 for the one that is lent most."""
    lines: dict[str, list[GraphCandidate]] = {}
    for candidate in candidates:
        if candidate.group is not None and candidate.place is not None:
            lines.setdefault(candidate.group, []).append(candidate)
    near: dict[str, float] = {}
    for line in lines.values():
        ids = [candidate.id for candidate in sorted(line, key=lambda c: (c.place, c.id))]
        before = _lent([bases[id_] for id_ in ids], share)
        after = reversed(_lent([bases[id_] for id_ in reversed(ids)], share))
        near |= {id_: one + other for id_, one, other in zip(ids, before, after, strict=True)}
    return shares(near)


def _lent(bases: Iterable[float], share: float) -> list[float]:
    """Return what those before lend each: a share of their base, again a share of that one place further."""
    lent, carried = [], 0.0
    for base in bases:
        lent.append(carried)
        carried = (carried + base) * share
    return lent


def entry_strength(
    candidates: Iterable[GraphCandidate], bases: Mapping[str, float]
) -> dict[str, list[tuple[float, str]]]:
    """Return for each source the entries among the candidates that rest on it, strongest first."""
    found: dict[str, list[tuple[float, str]]] = {}
    for candidate in candidates:
        if candidate.is_entry:
            for source in candidate.sources:
                found.setdefault(source, []).append((bases[candidate.id], candidate.id))
    return {source: sorted(entries, reverse=True)[:2] for source, entries in found.items()}


def shared_strength(candidate: GraphCandidate, entries: Mapping[str, Sequence[tuple[float, str]]]) -> float:
    """Return how strong the best other entry is that rests on a source of the candidate; 0 if there is none."""
    if not entries:
        return 0.0
    return max(
        (base for source in candidate.sources for base, id_ in entries.get(source, ()) if id_ != candidate.id),
        default=0.0,
    )
