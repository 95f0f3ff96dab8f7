"""A Rootward service as typed operations: `Client` waits in the thread, `AsyncClient` in the task.

>>> from rootward.service import Client
>>> client = Client("http://127.0.0.1:8000", "rw_a-token-of-yours")
>>> client.sessions.remember.__doc__.splitlines()[0]
'Make a fact, or replace and revive the one under its key.'
>>> client.close()
"""

from rootward.service.calls import KEEP
from rootward.service.client import AsyncClient, Client
from rootward.service.failures import (
    Conflict,
    ConnectionFailed,
    Forbidden,
    InvalidRequest,
    NotFound,
    PreconditionFailed,
    ServiceError,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
)
from rootward.service.host_shapes import NewItem, NewMessage, TaskResult, TaskStep, TurnPart
from rootward.service.retries import Retries

__all__ = [
    "KEEP",
    "AsyncClient",
    "Client",
    "Conflict",
    "ConnectionFailed",
    "Forbidden",
    "InvalidRequest",
    "NewItem",
    "NewMessage",
    "NotFound",
    "PreconditionFailed",
    "Retries",
    "ServiceError",
    "TaskResult",
    "TaskStep",
    "TurnPart",
    "Unauthenticated",
    "Unavailable",
    "UnexpectedAnswer",
]
