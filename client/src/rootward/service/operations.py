"""One description of an operation, two ways to call it.

A class of operations says what there is; its two heirs say how to wait::

    class SessionOperations:
        read = read_session                  # an Operation

    class Sessions(SessionOperations, SyncSurface): ...
    class AsyncSessions(SessionOperations, AsyncSurface): ...

Type checkers see ``Sessions.read(session_id: str) -> SessionView`` and the same with ``async``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

from rootward.service.calls import Ask, Call, Route

P = ParamSpec("P")
T = TypeVar("T")


class Sends(Protocol):
    """Sends calls and waits in the thread."""

    def send(self, call: Call[T]) -> T:
        """Return what the answer means; raises `ServiceError`."""
        ...


class AsyncSends(Protocol):
    """Sends calls and waits in the task."""

    async def send(self, call: Call[T]) -> T:
        """Return what the answer means; raises `ServiceError`."""
        ...


class SyncSurface:
    """Operations that wait in the thread."""

    def __init__(self, sender: Sends) -> None:
        self.sender = sender


class AsyncSurface:
    """Operations that wait in the task."""

    def __init__(self, sender: AsyncSends) -> None:
        self.sender = sender


class Operation(Generic[P, T]):
    """A function that asks for something, with its route; a method in a class of operations."""

    def __init__(self, route: Route, ask: Callable[P, Ask[T]]) -> None:
        self.route = route
        self.ask = ask
        self.__doc__ = ask.__doc__

    def call(self, *args: P.args, **kwargs: P.kwargs) -> Call[T]:
        """Return what to send, without sending it."""
        return Call(route=self.route, ask=self.ask(*args, **kwargs))

    @overload
    def __get__(self, surface: None, owner: type) -> Operation[P, T]: ...
    @overload
    def __get__(self, surface: SyncSurface, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, surface: AsyncSurface, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...

    def __get__(self, surface: Any, owner: type) -> Any:
        if surface is None:
            return self

        @functools.wraps(self.ask)
        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            return surface.sender.send(self.call(*args, **kwargs))

        return method


def operation(method: str, path: str) -> Callable[[Callable[P, Ask[T]]], Operation[P, T]]:
    """Make an operation of a function that returns an `Ask`."""
    route = Route(method=method, path=path)

    def made(ask: Callable[P, Ask[T]]) -> Operation[P, T]:
        return Operation(route, ask)

    return made
