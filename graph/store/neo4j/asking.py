"""Questions that are sent as one statement: a round trip costs as much as a dozen look-ups.

A question is a statement that only lacks its RETURN, and what it returns in exactly one row. Several become one
statement, each in a `CALL` of its own and in order: each takes the answer before it as an argument, so that none is
put to the store before the other, which the law needs (the access version is read first).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar, cast

from graph.store.neo4j.driver import ONE_WAY, PARAMETER, Rows, Runner

T = TypeVar("T")

_QUIET_TURNS = 2


@dataclass(frozen=True, slots=True)
class Question:
    """A statement without its RETURN, an expression that gives one value in one row, and the parameters."""

    statement: str
    answer: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class First:
    """What is asked before anything else, and what looks at the answer and raises if nothing may follow."""

    question: Question
    check: Callable[[Any], None]


class Asking:
    """Runs statements; what is asked `together`, and what is to be asked first, goes to the store as one."""

    def __init__(self, runner: Runner, first: First | None = None) -> None:
        self._runner = runner
        self._first = first
        self._side_by_side = 0
        self._waiting: list[tuple[Question, asyncio.Future[Any]]] = []

    async def begin(self) -> None:
        """Ask what is to be asked first, if that is still to be done."""
        if self._first is not None:
            await self._answers([])

    async def run(self, statement: str, /, **parameters: Any) -> Rows:
        """Return the rows of a statement that stands alone; see `graph.store.neo4j.driver.Runner`."""
        await self.begin()
        return await self._runner.run(statement, **parameters)

    async def ask(self, statement: str, answer: str, /, **parameters: Any) -> Any:
        """Return the one value of a question; those that ask together wait for one another."""
        question = Question(statement, answer, parameters)
        if not self._side_by_side:
            return (await self._answers([question]))[0]
        mine: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, mine))
        if len(self._waiting) == 1:
            await self._answer_all()
        return await mine

    async def together(self, questions: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
        """Ask side by side; see `graph.store.port.Reader.together`."""
        if len(questions) < 2:
            return [await question() for question in questions]
        self._side_by_side += 1
        try:
            answers = await asyncio.gather(*(question() for question in questions), return_exceptions=True)
        finally:
            self._side_by_side -= 1
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return cast(list[T], answers)

    async def _answer_all(self) -> None:
        """Answer what waits, after everyone who is to ask now has asked."""
        await self._all_have_asked()
        asked, self._waiting = self._waiting, []
        try:
            answers = await self._answers([question for question, _ in asked])
        except BaseException as error:
            _fail([waiting for _, waiting in asked], error)
            raise
        for (_, waiting), answer in zip(asked, answers, strict=True):
            if not waiting.done():
                waiting.set_result(answer)

    async def _all_have_asked(self) -> None:
        """Wait until no more is asked for some turns of the loop: questions within questions begin a turn later."""
        known, quiet = len(self._waiting), 0
        while quiet < _QUIET_TURNS:
            await asyncio.sleep(0)
            quiet = quiet + 1 if len(self._waiting) == known else 0
            known = len(self._waiting)

    async def _answers(self, questions: Sequence[Question]) -> Sequence[Any]:
        first, self._first = self._first, None  # at once, so that whatever is asked meanwhile comes after it
        if first is None:
            return await self._sent(questions)
        begun, *answers = await self._sent([first.question, *questions])
        first.check(begun)
        return answers

    async def _sent(self, questions: Sequence[Question]) -> Sequence[Any]:
        if len(questions) == 1:
            (alone,) = questions
            ((answer,),) = await self._runner.run(f"{alone.statement} RETURN {alone.answer}", **alone.parameters)
            return (answer,)
        text = _joined(tuple((question.statement, question.answer) for question in questions))
        (answers,) = await self._runner.run(
            text, **{f"s{number}": question.parameters for number, question in enumerate(questions)}
        )
        return answers


async def table(asking: Asking, statement: str, columns: str, /, **parameters: Any) -> Rows:
    """Ask for these columns of every row of a statement, in order.

    They come as one list in one record: the driver takes some 100 µs for each record, whatever is in it.
    """
    return cast(Rows, await asking.ask(statement, f"collect([{columns}])", **parameters))


@lru_cache(maxsize=1_000)
def _joined(questions: tuple[tuple[str, str], ...]) -> str:
    """Return one statement for several questions; the parameters of the n-th are in the map `$s<n>`."""
    one_way = all(statement.startswith(ONE_WAY) for statement, _ in questions)
    calls = []
    for number, (statement, answer) in enumerate(questions):
        before = f"answer{number - 1}" if number else ""
        body = PARAMETER.sub(rf"$s{number}.\1", f"{statement.removeprefix(ONE_WAY)} RETURN {answer}")
        calls.append(f"CALL ({before}) {{ {body} AS answer{number} }}")
    told = ", ".join(f"answer{number}" for number in range(len(questions)))
    return f"{ONE_WAY if one_way else ''}{' '.join(calls)} RETURN {told}"


def _fail(waiting: Sequence[asyncio.Future[Any]], error: BaseException) -> None:
    """Let all who wait know why there is no answer; the one who asked for them raises it himself."""
    for future in waiting[1:]:
        if future.done():
            continue
        if isinstance(error, Exception):
            future.set_exception(error)
        else:
            future.cancel()
