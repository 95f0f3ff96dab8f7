"""Errors by the names that the contract of each surface gives them, as the REST routes tell them.

The knowledge surface has codes of its own (``FORBIDDEN``); sessions, agents and bots have tags (``Forbidden``),
workspace memory has others (``forbidden``). AD-24 asks for the contract's own word in `extensions.code`, so what is
raised inside `tagged` or `refusing` gets it. Source: AD-24, SM-55, BM-174, FM-6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from graph.model.errors import (
    BadInput,
    CursorInvalid,
    Forbidden,
    InvalidRequest,
    LimitExceeded,
    RootwardError,
    StoreError,
    WorkspaceRefused,
)

_TAGS: Final[Mapping[type[RootwardError], str]] = {
    Forbidden: "Forbidden",
    BadInput: "InvalidRequest",
    LimitExceeded: "InvalidRequest",
    InvalidRequest: "InvalidRequest",
}
_OF_COMMAND: Final = "command."
"""How paths of REST bodies begin that are arguments here."""


class Tagged(Exception):
    """An error of the core under the name that a surface gives it.

    Attributes:
        own: the error.
        tag: its name outside.
        path: the argument that is wrong, if one is.
    """

    def __init__(self, own: RootwardError, tag: str) -> None:
        super().__init__(own.message)
        self.own = own
        self.tag = tag
        given = own.details.get("path", own.details.get("field"))
        self.path = str(given).removeprefix(_OF_COMMAND) if isinstance(own, BadInput) and given else None


@contextmanager
def tagged() -> Iterator[None]:
    """Name what is raised inside as the contract of the surface does; what has such a name already keeps it."""
    try:
        yield
    except StoreError as error:
        raise Tagged(error, "Unavailable") from error
    except RootwardError as error:
        if type(error) in _TAGS:
            raise Tagged(error, _TAGS[type(error)]) from error
        raise


@contextmanager
def refusing() -> Iterator[None]:
    """Refuse what is refused inside by the codes of workspace memory (FM-6, FM-7)."""
    try:
        yield
    except StoreError as error:
        raise WorkspaceRefused("unavailable", error.message, dependency="store") from error
    except Forbidden as error:
        raise WorkspaceRefused("forbidden", error.message) from error
    except CursorInvalid as error:
        raise WorkspaceRefused("invalid_cursor", error.message) from error
    except BadInput as error:
        field = str(error.details.get("field", error.details.get("path", "")))
        raise WorkspaceRefused("invalid_argument", error.message, field=field, reason=error.message) from error
