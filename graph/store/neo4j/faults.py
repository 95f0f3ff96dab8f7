"""What the driver reports, sorted and turned into our errors without a word of its messages.

Messages of the server quote statements and values (`Node(5) already exists with … = 'Ana'`), so an error of ours is
raised from a `DriverFault`, which keeps only the class and the code. Source: attack case 15.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from neo4j import exceptions as driver_errors

from graph.model.errors import AlreadyExists, BadInput, RootwardError, StoreError, StoreUnavailable

DRIVER_ERRORS = (driver_errors.DriverError, driver_errors.Neo4jError, OSError)
"""Everything that a call to the driver raises when the store is at fault."""

_CONSTRAINT = "Neo.ClientError.Schema.ConstraintValidationFailed"
_GONE_MEANWHILE = "Neo.ClientError.Statement.EntityNotFound"
"""Deleted by another transaction between our read and our write."""

_ID_TAKEN = re.compile(r"label `Node` and propert(?:y|ies) `id`")
_STILL_LINKED = "still has relationships"


class DriverFault(Exception):
    """Class and code of a driver's error: what a log may show of it."""

    def __init__(self, error: BaseException) -> None:
        self.kind = type(error).__name__
        self.driver_code = getattr(error, "code", None) or ""
        super().__init__(f"{self.kind} {self.driver_code}".strip())


class TryAgain(StoreUnavailable):
    """The transaction was rolled back and may well succeed when it is run again."""


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


def translated(
    error: BaseException, *, kind: str | None = None, key_fields: Sequence[str] | None = None
) -> RootwardError:
    """Return our error for a driver's; raise it from a `DriverFault`.

    Args:
        error: what the driver raised.
        kind: node kind under work, for `AlreadyExists`.
        key_fields: its unique key, if it has only one.
    """
    if is_transient(error):
        return TryAgain("the store cannot answer now: try again")
    if code_of(error) == _CONSTRAINT:
        return AlreadyExists("there is one already: read it instead", kind=kind, key_fields=key_fields)
    if isinstance(error, driver_errors.AuthError):
        return StoreUnavailable("Neo4j refuses the user or password: check the settings of the store")
    if isinstance(error, driver_errors.ResultError | driver_errors.TransactionError):
        return StoreError("the transaction has failed and must be given up")
    return StoreError("Neo4j refused a statement: see its own log")


def untranslatable_text() -> BadInput:
    """Return the error for a text that has no UTF-8 form (a lone surrogate)."""
    return BadInput("a text has characters that cannot be stored: send well-formed Unicode", field="text")


def _is_race(error: BaseException) -> bool:
    """Tell a lost race from a taken key: a link or a placeholder that came between our read and our write."""
    if code_of(error) != _CONSTRAINT:
        return False
    message = str(error)
    return _STILL_LINKED in message or _ID_TAKEN.search(message) is not None


def is_lost_connection(error: BaseException) -> bool:
    """True if the connection broke, so that the server may have done what it was told last."""
    return isinstance(error, OSError | driver_errors.ServiceUnavailable | driver_errors.SessionExpired)
