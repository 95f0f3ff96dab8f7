"""What the lint of knowledge finds: dated names, near names, over-long entries, entries without body. Pure.

It judges what one reader sees, and changes nothing. Source: CO-70 to CO-75.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from graph.model.ids import NodeId
from graph.rules.knowledge_settings import Settings
from graph.rules.names import NamedEntry, NearPair, is_dated_name, near_pairs
from graph.text.similarity import name_similarity


class LintRule(StrEnum):
    """What is looked for, in the order in which findings are listed."""

    DATED_NAME = "dated_name"
    NEAR_NAME = "near_name"
    LONG_ENTRY = "long_entry"
    NO_BLOCKS = "no_blocks"


@dataclass(frozen=True, kw_only=True, slots=True)
class LintedEntry:
    """An entry as its reader sees it.

    Attributes:
        names: its name first, then its aliases.
        tokens: of its visible body; `blocks` is the number of its visible current blocks.
    """

    id: NodeId
    pool: NodeId
    type: str
    names: tuple[str, ...]
    tokens: int
    blocks: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LintLimits:
    """The settings of the lint."""

    similarity: float
    long_tokens: int
    long_blocks: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One finding, about one entry or a pair of them.

    Attributes:
        entries: the smaller id first.
        measure: tokens or blocks of an over-long entry; None for the others.
        unit: of the measure.
    """

    rule: LintRule
    entries: tuple[NodeId, ...]
    measure: float | None = None
    unit: str = ""

    @property
    def key(self) -> tuple[int, tuple[NodeId, ...]]:
        """Its place among all findings: by rule, then by ids."""
        return _RANKS[self.rule], self.entries


_RANKS: Mapping[LintRule, int] = {rule: rank for rank, rule in enumerate(LintRule)}


def limits_of(settings: Settings) -> LintLimits:
    """Return the limits of the settings in force."""
    return LintLimits(
        similarity=settings["lint.similarity"],
        long_tokens=settings["lint.long_tokens"],
        long_blocks=settings["lint.long_blocks"],
    )


def lint(
    entries: Collection[LintedEntry], limits: LintLimits, rules: Collection[LintRule] = tuple(LintRule)
) -> list[Finding]:
    """Return what is found, in order of `Finding.key`; marks of distinct entries are not known here.

    Args:
        entries: live and no mirrors, as one reader sees them; of any number of knowledge bases.
        limits: of the settings.
        rules: only these.
    """
    found: list[Finding] = []
    for entry in entries:
        found += [finding for finding in _of_entry(entry, limits) if finding.rule in rules]
    if LintRule.NEAR_NAME in rules:
        found += _near_names(entries, limits.similarity)
    return sorted(found, key=lambda finding: finding.key)


def without_distinct(findings: Iterable[Finding], distinct: Collection[NearPair]) -> list[Finding]:
    """Return the findings without near names of entries that a person marked as distinct (KN-37, CO-73)."""
    return [
        finding
        for finding in findings
        if finding.rule is not LintRule.NEAR_NAME
        or NearPair(first=finding.entries[0], second=finding.entries[1]) not in distinct
    ]


def count(findings: Iterable[Finding]) -> dict[LintRule, int]:
    """Return how many findings each rule has; rules without any are there with 0."""
    counts = dict.fromkeys(LintRule, 0)
    for finding in findings:
        counts[finding.rule] += 1
    return counts


def nearest(names: Iterable[str], others: Collection[str]) -> tuple[float, str, str]:
    """Return the nearest two of the names of two entries with their similarity; ties by their order.

    >>> nearest(["Helio"], ["HLO", "Helio."])
    (1.0, 'Helio', 'Helio.')
    """
    pairs = [(name_similarity(name, other), name, other) for name in names for other in others]
    return max(pairs, key=lambda pair: pair[0])


def _of_entry(entry: LintedEntry, limits: LintLimits) -> list[Finding]:
    found = []
    if entry.names and is_dated_name(entry.names[0], entry_type=entry.type):
        found.append(Finding(rule=LintRule.DATED_NAME, entries=(entry.id,)))
    if entry.tokens > limits.long_tokens:
        found.append(Finding(rule=LintRule.LONG_ENTRY, entries=(entry.id,), measure=float(entry.tokens), unit="tokens"))
    elif entry.blocks > limits.long_blocks:
        found.append(Finding(rule=LintRule.LONG_ENTRY, entries=(entry.id,), measure=float(entry.blocks), unit="blocks"))
    if entry.blocks == 0:
        found.append(Finding(rule=LintRule.NO_BLOCKS, entries=(entry.id,)))
    return found


def _near_names(entries: Iterable[LintedEntry], similarity: float) -> list[Finding]:
    by_pool: dict[NodeId, list[NamedEntry]] = {}
    for entry in entries:
        by_pool.setdefault(entry.pool, []).append(NamedEntry(id=entry.id, names=entry.names))
    found = []
    for named in by_pool.values():
        few = len(named) < _KEPT_FROM
        pairs = near_pairs(named, similarity=similarity) if few else _kept_pairs(_in_order(named), similarity)
        found += [Finding(rule=LintRule.NEAR_NAME, entries=(NodeId(p.first), NodeId(p.second))) for p in pairs]
    return found


_KEPT_FROM = 500


def _in_order(named: Iterable[NamedEntry]) -> tuple[NamedEntry, ...]:
    return tuple(sorted(named, key=lambda entry: entry.id))


@lru_cache(maxsize=16)
def _kept_pairs(named: tuple[NamedEntry, ...], similarity: float) -> tuple[NearPair, ...]:
    """Return the near pairs of many names; asked again about the very same names, it remembers.

    It remembers what follows from its arguments, and nothing about who may see them.
    """
    return tuple(near_pairs(named, similarity=similarity))
