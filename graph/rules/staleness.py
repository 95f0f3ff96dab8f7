"""When a statement needs another look: its source has a newer version, or its basis is no longer believed.

Staleness is worked out at every read and never stored. It looks only at what a reader of the statement sees: the
sources it cites, the latest version of each (which has the same readers), and its bases. Only what is current can be
stale; history stays as it was. Source: KN-64, KN-125, DR-60, MA-10.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graph.model.ids import NodeId
from graph.model.time import Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class CitedVersion:
    """One cited source version: which source it is a version of, and whether that has no newer one."""

    series: NodeId
    latest: bool


def outdated(cited: Iterable[CitedVersion]) -> frozenset[NodeId]:
    """Return the sources of which only older versions are cited.

    >>> v1, v2 = CitedVersion(series=NodeId("s"), latest=False), CitedVersion(series=NodeId("s"), latest=True)
    >>> sorted(outdated([v1])), sorted(outdated([v1, v2]))
    (['s'], [])
    """
    versions = list(cited)
    return frozenset(v.series for v in versions) - frozenset(v.series for v in versions if v.latest)


def is_stale(
    cited: Iterable[CitedVersion],
    bases_current: Iterable[bool] = (),
    *,
    confirmed_at: Millis | None = None,
    replaced_at: Mapping[NodeId, Millis] | None = None,
) -> bool:
    """Return whether a current statement that needs all of its evidence is stale.

    Args:
        cited: the source versions it cites.
        bases_current: for each statement it is derived from, whether that is still current.
        confirmed_at: when a human last said that it still holds; this answers newer versions recorded until then,
            but a deduction whose basis went stays stale until it is rewritten.
        replaced_at: when the latest version of each outdated source was recorded; looked at only with
            `confirmed_at`, and a source that is missing counts as not confirmed.

    Source: KN-64, DR-60, MA-10.
    """
    if not all(bases_current):
        return True
    return any(not _is_confirmed(series, confirmed_at, replaced_at or {}) for series in outdated(cited))


def is_relation_stale(cited: Iterable[CitedVersion]) -> bool:
    """Return whether a relation, which one evidence is enough for, cites nothing but older versions."""
    versions = list(cited)
    return bool(versions) and outdated(versions) == frozenset(v.series for v in versions)


def would_go_stale(cited: Iterable[CitedVersion], series: NodeId, *, one_is_enough: bool) -> bool:
    """Return whether a statement that is not stale becomes so when a source gets a newer version.

    Args:
        cited: the source versions it cites.
        series: the source that gets one.
        one_is_enough: of relations: they need only one evidence.

    >>> v1, other = CitedVersion(series=NodeId("s"), latest=True), CitedVersion(series=NodeId("t"), latest=True)
    >>> would_go_stale([v1, other], NodeId("s"), one_is_enough=False)
    True
    >>> would_go_stale([v1, other], NodeId("s"), one_is_enough=True)
    False
    """
    then = [CitedVersion(series=v.series, latest=v.latest and v.series != series) for v in cited]
    return is_relation_stale(then) if one_is_enough else series in outdated(then)


def _is_confirmed(series: NodeId, confirmed_at: Millis | None, replaced_at: Mapping[NodeId, Millis]) -> bool:
    at = replaced_at.get(series)
    return confirmed_at is not None and at is not None and at <= confirmed_at
