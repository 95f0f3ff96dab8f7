"""How much weight age leaves to a search candidate.

A message fades to nothing, since what was once said says little about now; an entry keeps a lower bound, since it
is kept current by later evidence. Sources: RE-14, RE-15, RE-16.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from graph.rules.ranking import ItemKind

_DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class DecaySettings:
    """``search.message_half_life_days``, ``search.entry_half_life_days`` and ``search.entry_decay_floor``."""

    message_half_life_days: float = 1825.0
    entry_half_life_days: float = 3650.0
    entry_floor: float = 0.7


def age_in_days(then: datetime, now: datetime) -> float:
    """Return the age in days, 0 for what lies in the future; both times carry a zone."""
    return max(0.0, (now - then) / _DAY)


def decay(kind: ItemKind, age_days: float, settings: DecaySettings) -> float:
    """Return the factor in (0, 1] for a candidate of an age.

    Messages and episodes: ``2^(−age/half-life)``. Entries: ``f + (1−f) × 2^(−age/half-life)``, and never less than
    a message of that age, whatever the settings are.

    >>> round(decay(ItemKind.MESSAGE, 1825, DecaySettings()), 3)
    0.5
    >>> round(decay(ItemKind.ENTRY, 3650, DecaySettings()), 3)
    0.85
    """
    message: float = 2.0 ** (-age_days / settings.message_half_life_days)
    if kind is not ItemKind.ENTRY:
        return message
    fading: float = 2.0 ** (-age_days / settings.entry_half_life_days)
    return max(message, settings.entry_floor + (1.0 - settings.entry_floor) * fading)
