"""A thread of its own that does one thing after the other, for coroutines that wait for the results.

An executor with futures of `concurrent.futures` does the same with a lock, a condition and a second future for each
thing; a write goes to its thread a dozen times, and each time takes half as long again that way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Task(Generic[T]):
    """Something that is to be done.

    Attributes:
        result: in the event loop that asked; cancelling it takes the task back, unless it has begun.
        over: whether the thread is through with it, even if nobody waits for the result any more.
    """

    __slots__ = ("_loop", "_work", "over", "result")

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._loop = asyncio.get_running_loop()
        self.result: asyncio.Future[T] = self._loop.create_future()
        self.over = False

    def run(self) -> None:
        """Do it; in the thread."""
        if self.result.cancelled():
            self.over = True
            return
        try:
            told = partial(self._tell, self._work())
        except BaseException as error:  # noqa: BLE001 - whatever it is, who waits is told
            told = partial(self._fail, error)
        self.over = True
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(told)
        del self, told  # an error knows this frame: it would keep itself, with all that was to be done

    def _tell(self, done: T) -> None:
        if not self.result.done():
            self.result.set_result(done)

    def _fail(self, error: BaseException) -> None:
        if not self.result.done():
            self.result.set_exception(error)


class Lane:
    """The thread; it ends with `close`, or with the process."""

    def __init__(self, name: str) -> None:
        self._tasks: SimpleQueue[Task[Any] | None] = SimpleQueue()
        self._closed = False
        self._thread = Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[], T]) -> Task[T]:
        """Let `work` be done after all that was asked for before; call it in an event loop.

        Raises:
            RuntimeError: the lane is closed: nobody would ever do it.
        """
        if self._closed:
            raise RuntimeError("the lane is closed")
        task = Task(work)
        self._tasks.put(task)
        return task

    def close(self) -> None:
        """Wait for what was asked for, and end the thread."""
        self._closed = True
        self._tasks.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task.run()
            del task  # it may hold much
