"""What the driver reports, sorted and turned into our errors without a word of its messages.

Messages of the server quote statements and values (`Node(5) already exists with … = 'Ana'`), so an error of ours is
raised from a `DriverFault`, which keeps only the class and the code. Source: attack case 15.
"""

from __future__ import annotations

import re

from neo4j import exceptions as driver_errors

from graph.model import schema
from graph.model.errors import AlreadyExists, BadInput, RootwardError, StoreError, StoreUnavailable

DRIVER_ERRORS = (driver_errors.DriverError, driver_errors.Neo4jError, OSError)
"""Everything that a call to the driver raises when the store is at fault."""

_CONSTRAINT = "Neo.ClientError.Schema.ConstraintValidationFailed"
_GONE_MEANWHILE = "Neo.ClientError.Statement.EntityNotFound"
"""Deleted by another transaction between our read and our write."""

_TAKEN = re.compile(r"Node\(\d+\) already exists with label `(\w+)` and propert(?:y|ies) `(\w+)`")
"""The start of a message of the server; what follows are values of users."""

_RACES = frozenset({("Node", "id"), ("Text", "id"), ("Clause", "id")})
"""Keys of which it is looked first whether they are taken: who finds them taken all the same was a moment late."""

_STILL_LINKED = "still has relationships"


class DriverFault(Exception):
    """Class and code of a driver's error: what a log may show of it."""

    def __init__(self, error: BaseException) -> None:
        self.kind = type(error).__name__
        self.driver_code = getattr(error, "code", None) or ""
        super().__init__(f"{self.kind} {self.driver_code}".strip())


class TryAgain(StoreUnavailable):
    """The transaction was rolled back and may well succeed when it is run again."""


class TakenForNew(TryAgain):
    """What a transaction took for new has been there, at least in part: it must look first."""

    def __init__(self) -> None:
        super().__init__("something that was taken for new is there already: try again")


def code_of(error: BaseException) -> str:
    """Return the server's status code, or an empty text."""
    return getattr(error, "code", None) or ""


def is_transient(error: BaseException) -> bool:
    """True if the same work can succeed when it is run again: deadlock, lost connection, a node that just went."""
    if isinstance(error, OSError):
        return True
    if code_of(error) == _GONE_MEANWHILE or _is_race(error):
        return True
    return isinstance(error, driver_errors.DriverError | driver_errors.Neo4jError) and error.is_retryable()


def translated(error: BaseException) -> RootwardError:
    """Return our error for a driver's; raise it from a `DriverFault`."""
    if is_transient(error):
        return TryAgain("the store cannot answer now: try again")
    if code_of(error) == _CONSTRAINT:
        return already_exists(_kind_of(error))
    if isinstance(error, driver_errors.AuthError):
        return StoreUnavailable("Neo4j refuses the user or password: check the settings of the store")
    if isinstance(error, driver_errors.ResultError | driver_errors.TransactionError):
        return StoreError("the transaction has failed and must be given up")
    return StoreError("Neo4j refused a statement: see its own log")


def already_exists(kind: str | None, key_fields: tuple[str, ...] | None = None) -> AlreadyExists:
    """Return the error for a taken key.

    Args:
        kind: of the nodes.
        key_fields: the key; without it that of the kind, if it has only one.
    """
    spec = schema.kinds().get(kind or "")
    unique = spec.unique if spec else ()
    fields = key_fields or (unique[0] if len(unique) == 1 else None)
    return AlreadyExists("there is one already: read it instead", kind=kind, key_fields=fields)


def _kind_of(error: BaseException) -> str | None:
    found = _TAKEN.search(str(error))
    return found[1] if found and found[1] in schema.kinds() else None


def untranslatable_text() -> BadInput:
    """Return the error for a text that has no UTF-8 form (a lone surrogate)."""
    return BadInput("a text has characters that cannot be stored: send well-formed Unicode", field="text")


def _is_race(error: BaseException) -> bool:
    """Tell a lost race from a taken key: a link or a placeholder that came between our read and our write."""
    if code_of(error) != _CONSTRAINT:
        return False
    message = str(error)
    taken = _TAKEN.search(message)
    return taken.groups() in _RACES if taken else _STILL_LINKED in message


def is_objection(error: BaseException) -> bool:
    """True for an error of ours that came of a constraint of the store."""
    return isinstance(error.__cause__, DriverFault) and error.__cause__.driver_code == _CONSTRAINT


def is_lost_connection(error: BaseException) -> bool:
    """True if the connection broke, so that the server may have done what it was told last."""
    return isinstance(error, OSError | driver_errors.ServiceUnavailable | driver_errors.SessionExpired)
