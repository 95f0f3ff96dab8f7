"""What a session's memory takes and how its switches are read: keys, contents, kinds, `use` and `generate`.

A character is one Unicode code point everywhere. Nothing is shortened or repaired but that keys are brought to NFC.
Source: SM-1 to SM-19, SM-31 to SM-64, SM-75 to SM-82.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from graph.model.errors import InvalidRequest, SurfaceConflict
from graph.model.fields import Json
from graph.model.nodes.sessions import FactKind, Session
from graph.text.outside import is_storable

MAX_KEY: Final = 128
MAX_CONTENT: Final = 4_000
MAX_ACTIVE: Final = 1_000
SWITCHES: Final = ("use", "generate")
CONFLICT: Final = "SessionConflict"
NOT_FOUND: Final = "SessionNotFound"


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What a client last saw of a session; an edit counts only for that state (SM-22)."""

    head: str
    revision: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Switches:
    """Whether facts are used in turns, and whether they are learned."""

    use: bool = True
    generate: bool = True

    def to_json(self) -> dict[str, bool]:
        """Return the two booleans as the contract spells them (SM-11)."""
        return {"use": self.use, "generate": self.generate}


def checked_key(given: str, path: str = "command.key") -> str:
    """Return a key in NFC.

    Raises:
        InvalidRequest: it is not 1 to 128 characters, has control characters or lone surrogates, or white space at
            an end (SM-15).
    """
    key = unicodedata.normalize("NFC", given)
    if not 1 <= len(key) <= MAX_KEY:
        raise InvalidRequest(f"a key has 1 to {MAX_KEY} characters", path=path)
    if key != key.strip() or any(unicodedata.category(character) in ("Cc", "Cs") for character in key):
        raise InvalidRequest("a key has no control characters and no white space at its ends", path=path)
    return key


def checked_content(content: str, path: str = "command.content") -> str:
    """Return a content as it is.

    Raises:
        InvalidRequest: it is not 1 to 4000 characters, only white space, or has U+0000 or lone surrogates (SM-17).
    """
    if not 1 <= len(content) <= MAX_CONTENT:
        raise InvalidRequest(f"a content has 1 to {MAX_CONTENT} characters", path=path)
    if content.isspace() or not is_storable(content):
        raise InvalidRequest("a content has a character that shows, and neither U+0000 nor lone surrogates", path=path)
    return content


def checked_kind(given: str, path: str = "command.kind") -> FactKind:
    """Return a kind of fact.

    Raises:
        InvalidRequest: there is no such kind (SM-6, SM-63).
    """
    try:
        return FactKind(given)
    except ValueError:
        raise InvalidRequest(f"a kind is one of {', '.join(FactKind)}", path=path) from None


def check_seen(session: Session, seen: Seen) -> None:
    """Refuse an edit of a state that is not the present one.

    Raises:
        SurfaceConflict: ``stale`` (SM-54).
    """
    if seen.head != session.head or seen.revision != session.revision:
        raise SurfaceConflict(CONFLICT, "stale", "the session changed: read it again and try again")


def check_room(active: int) -> None:
    """Refuse one active fact more than a memory holds.

    Raises:
        SurfaceConflict: ``memory_full`` (SM-19, SM-58).
    """
    if active >= MAX_ACTIVE:
        raise SurfaceConflict(CONFLICT, "memory_full", f"at most {MAX_ACTIVE} facts are active: forget some first")


def overrides(session: Session) -> dict[str, bool]:
    """Return only the switches that the session set itself (SM-12)."""
    own = {"use": session.use, "generate": session.generate}
    return {name: value for name, value in own.items() if value is not None}


def defaults(settings: Mapping[str, Json] | None) -> Switches:
    """Return an organization's default of each switch; both are on unless it changed them (SM-79, SM-80).

    >>> defaults({"memory": {"generate": False}})
    Switches(use=True, generate=False)
    """
    own = (settings or {}).get("memory")
    if isinstance(own, bool):  # how earlier versions kept the setting
        return Switches(use=own, generate=own)
    return Switches(**{name: own[name] for name in SWITCHES if name in own}) if isinstance(own, Mapping) else Switches()


def in_force(session: Session, default: Switches) -> Switches:
    """Return what holds for a session now: its override, else the default of its organization (SM-82)."""
    return Switches(**{**default.to_json(), **overrides(session)})
