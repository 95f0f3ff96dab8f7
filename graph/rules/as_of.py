"""Two times of every statement: when the service believed it, and when it holds in the world (KN-73 to KN-76)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from graph.model.time import Millis


class Believed(Protocol):
    """A stored version: believed in ``[recorded_at, invalidated_at)``."""

    @property
    def recorded_at(self) -> Millis:
        """When the service began to believe it."""
        ...

    @property
    def invalidated_at(self) -> Millis | None:
        """When it stopped; None while it is current."""
        ...


class Dated(Protocol):
    """A statement about the world that holds in ``[valid_from, valid_to)``."""

    @property
    def valid_from(self) -> Millis | None:
        """When it begins to hold; None is unknown."""
        ...

    @property
    def valid_to(self) -> Millis | None:
        """When it ceases to hold; None is open."""
        ...


class Statement(Believed, Dated, Protocol):
    """A version with both times."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AsOf:
    """The moment that a read asks about.

    Attributes:
        recorded: what the service believed then; None is now.
        valid: what held in the world then; None asks for everything believed, whenever it holds.
    """

    recorded: Millis | None = None
    valid: Millis | None = None


NOW = AsOf()
"""What is believed now about any time."""


def is_current(version: Believed) -> bool:
    """Return whether a version is believed now; it may still describe the past (KN-75)."""
    return version.invalidated_at is None


def is_believed(version: Believed, as_of: AsOf) -> bool:
    """Return whether the service believed a version at the asked moment: ``recorded_at <= recorded < invalidated_at``.

    A version that was replaced in the moment it was made was never believed.

    Source: KN-76.
    """
    if as_of.recorded is None:
        return is_current(version)
    ended = version.invalidated_at
    return version.recorded_at <= as_of.recorded and (ended is None or as_of.recorded < ended)


def holds(statement: Dated, as_of: AsOf) -> bool:
    """Return whether a statement holds in the world at the asked moment; missing bounds are open (KN-76)."""
    if as_of.valid is None:
        return True
    begun = statement.valid_from is None or statement.valid_from <= as_of.valid
    return begun and (statement.valid_to is None or as_of.valid < statement.valid_to)


def fits(statement: Statement, as_of: AsOf) -> bool:
    """Return whether a read at `as_of` shows this version."""
    return is_believed(statement, as_of) and holds(statement, as_of)


def is_there(deleted_at: Millis | None, as_of: AsOf) -> bool:
    """Return whether what was deleted at `deleted_at` was still there at the asked moment (KN-36)."""
    return deleted_at is None or (as_of.recorded is not None and as_of.recorded < deleted_at)
