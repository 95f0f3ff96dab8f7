"""What the command line answers with: one exit code a class of errors, one line that says what to do.

| Code | Meaning |
|---|---|
| 0 | done |
| 1 | the command ran and found something wrong (`verify`, `doctor`) |
| 2 | what was given cannot be taken: arguments, settings, files, values |
| 3 | another process owns the embedded store (AD-39) |
| 4 | no valid token, or a right is missing |
| 5 | there is no such thing for the one who asks |
| 6 | the present state does not allow it: it exists already, or has changed |
| 7 | the store or the server cannot be reached or used |
| 70 | an unexpected fault: a bug |
| 130 | interrupted by the user |
"""

from __future__ import annotations

from collections.abc import Mapping

from api.errors import row_of
from graph.model.errors import RootwardError, StoreLocked

DONE = 0
FOUND = 1
USAGE = 2
LOCKED = 3
DENIED = 4
MISSING = 5
CONFLICT = 6
AWAY = 7
FAULT = 70
INTERRUPTED = 130

BY_HTTP: Mapping[int, int] = {
    400: USAGE,
    413: USAGE,
    415: USAGE,
    422: USAGE,
    401: DENIED,
    403: DENIED,
    429: DENIED,
    404: MISSING,
    409: CONFLICT,
    502: AWAY,
    503: AWAY,
}
"""The exit code by the HTTP status that the table of errors gives a class."""


class ServerRefused(RootwardError):
    """What a running server answered: its code, its message and the status that goes with the code."""

    def __init__(self, message: str, *, code: str, status: int) -> None:
        super().__init__(message, status=status)
        self.status = status
        self._wire_code = code

    @property
    def wire_code(self) -> str:
        """The code that the server gave."""
        return self._wire_code


def exit_code(error: RootwardError) -> int:
    """Return the exit code of a failure.

    >>> exit_code(StoreLocked("another process has it")), exit_code(ServerRefused("no", code="NOT_FOUND", status=404))
    (3, 5)
    """
    if isinstance(error, StoreLocked):
        return LOCKED
    status = error.status if isinstance(error, ServerRefused) else row_of(error).http
    return BY_HTTP.get(status, FAULT)
