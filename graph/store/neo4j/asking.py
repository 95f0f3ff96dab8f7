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
from itertools import islice
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


@dataclass(frozen=True, slots=True)
class _Asked:
    """Questions of one who waits for their answers."""

    questions: Sequence[Question]
    answer: asyncio.Future[Sequence[Any]]


class Asking:
    """Runs statements; what is asked `together`, and what is to be asked first, goes to the store as one.

    What is asked side by side waits in the order in which it was asked, and is sent by a task of its own: whoever gives
    up takes nothing from the others.
    """

    def __init__(self, runner: Runner, first: First | None = None) -> None:
        self._runner = runner
        self._first = first
        self._side_by_side = 0
        self._waiting: list[_Asked] = []
        self._sending: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Ask what is to be asked first, if that is still to be done."""
        if self._first is not None:
            await self._answers([])

    async def run(self, statement: str, /, **parameters: Any) -> Rows:
        """Return the rows of a statement that stands alone; see `graph.store.neo4j.driver.Runner`.

        What was asked before is answered before: it may write what this statement reads.
        """
        if self._sending is not None:
            await asyncio.wait([self._sending])
        await self.begin()
        return await self._runner.run(statement, **parameters)

    async def ask(self, statement: str, answer: str, /, **parameters: Any) -> Any:
        """Return the one value of a question; those that ask together wait for one another."""
        (value,) = await self.in_turn([Question(statement, answer, parameters)])
        return value

    async def in_turn(self, questions: Sequence[Question]) -> Sequence[Any]:
        """Return the values of questions between which nothing else is asked."""
        if not self._side_by_side:
            return await self._answers(questions)
        mine: asyncio.Future[Sequence[Any]] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Asked(questions, mine))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())
        return await mine

    async def together(self, questions: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
        """Ask side by side; see `graph.store.port.Reader.together`."""
        if len(questions) < 2:
            return [await question() for question in questions]
        self._side_by_side += 1
        try:
            answers = await asyncio.gather(*(question() for question in questions), return_exceptions=True)
        except asyncio.CancelledError:
            await self._give_up()
            raise
        finally:
            self._side_by_side -= 1
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return cast(list[T], answers)

    async def _give_up(self) -> None:
        """Stop what is being sent, if nobody waits for it any more, and see it end: its connection is given back."""
        if self._sending is not None and self._side_by_side == 1:
            self._sending.cancel()
            await asyncio.wait([self._sending])
            self._sending = None
            while self._waiting:
                self._waiting.pop().answer.cancel()

    async def _send(self) -> None:
        """Answer what waits, each time after everyone who is to ask now has asked."""
        try:
            while self._waiting:
                await self._all_have_asked()
                asked, self._waiting = [one for one in self._waiting if not one.answer.done()], []
                await self._answer(asked)
        finally:
            self._sending = None

    async def _answer(self, asked: Sequence[_Asked]) -> None:
        if not asked:
            return
        questions = [question for one in asked for question in one.questions]
        try:
            outcome = await asyncio.gather(self._answers(questions), return_exceptions=True)
            _tell(asked, outcome[0])
        finally:
            for one in asked:
                one.answer.cancel()

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


def _tell(asked: Sequence[_Asked], answers: Sequence[Any] | BaseException) -> None:
    """Give everyone who still waits the answers to what he asked, or the reason why there are none."""
    left = iter(() if isinstance(answers, BaseException) else answers)
    for one in asked:
        own = [*islice(left, len(one.questions))]
        if one.answer.done():
            continue
        if isinstance(answers, BaseException):
            one.answer.set_exception(answers)
        else:
            one.answer.set_result(own)
