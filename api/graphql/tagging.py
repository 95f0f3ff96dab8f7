"""Errors of sessions, agents and bots by the names that their contracts give them, as the REST routes tell them.

The knowledge surface has codes of its own (``FORBIDDEN``); these surfaces have tags (``Forbidden``). AD-24 asks for the
contract's own word in `extensions.code`, so what is raised inside `tagged` gets it. Source: AD-24, SM-55, BM-174.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from graph.model.errors import BadInput, Forbidden, InvalidRequest, LimitExceeded, RootwardError, StoreError

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
