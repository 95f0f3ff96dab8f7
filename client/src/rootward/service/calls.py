"""Operations without a network: what is sent, and what an answer means.

An operation is a plain function that takes typed arguments and returns an `Ask`. What sends it, and whether that waits
in a thread or in a task, is no matter of this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote

from rootward.service.failures import ConnectionFailed, UnexpectedAnswer, failure_of
from rootward.service.shapes import shaped

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Query = Mapping[str, str | int | Sequence[str] | None]


class Unset(Enum):
    """The type of `KEEP`."""

    KEEP = "keep"


KEEP: Final = Unset.KEEP
"""Stands for an argument that is not sent, where None means something else."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer as it came; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    def json(self) -> Any:
        """Return the body.

        Raises:
            UnexpectedAnswer: it is no JSON.
        """
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise UnexpectedAnswer("the answer is no JSON", status=self.status) from None


@dataclass(frozen=True, kw_only=True)
class Lost:
    """No answer came; `problem` is the name of what went wrong."""

    problem: str


@dataclass(frozen=True, kw_only=True)
class Ask(Generic[T_co]):
    """What one call of an operation asks for.

    Attributes:
        ids: fill the holes of the route, in order.
        read: makes a value of a successful answer.
        done: states of success.
        repeatable: doing it twice is the same as doing it once, so it may be sent again when no answer came.
    """

    read: Callable[[Reply], T_co]
    ids: Sequence[str] = ()
    query: Query = field(default_factory=dict)
    body: Mapping[str, Any] | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)
    done: Sequence[int] = (200, 201, 204)
    repeatable: bool = False


@dataclass(frozen=True, kw_only=True)
class Route:
    """A method and a path with holes, as the service's OpenAPI document names them."""

    method: str
    path: str

    def filled(self, ids: Sequence[str]) -> str:
        r"""Return the path with its holes filled, each percent-encoded once.

        Raises:
            ValueError: an id is empty.

        >>> Route(method="GET", path="/v1/bots/{botId}/memory").filled(["a/b"])
        '/v1/bots/a%2Fb/memory'
        """
        if not all(ids):
            raise ValueError("an id must not be empty")
        rest = iter(ids)
        return re.sub(r"\{\w+\}", lambda _: _quoted(next(rest)), self.path)


@dataclass(frozen=True, kw_only=True)
class Call(Generic[T_co]):
    """One request and the meaning of its answer."""

    route: Route
    ask: Ask[T_co]

    @property
    def path(self) -> str:
        """Where it goes, with an encoded query string."""
        pairs = "&".join(
            f"{name}={quote(str(one), safe='')}"
            for name, value in self.ask.query.items()
            for one in ([value] if isinstance(value, str | int) else value or ())
        )
        return self.route.filled(self.ask.ids) + (f"?{pairs}" if pairs else "")

    @property
    def content(self) -> bytes | None:
        """The body, in UTF-8; None: there is none."""
        if self.ask.body is None:
            return None
        return json.dumps(self.ask.body, ensure_ascii=False, allow_nan=False).encode("utf-8")

    @property
    def repeatable(self) -> bool:
        """Whether it may be sent again when no answer came."""
        return self.ask.repeatable or self.route.method == "GET"

    def finish(self, outcome: Reply | Lost) -> T_co:
        """Return what the answer means.

        Raises:
            ServiceError: the service refused, or no answer came.
        """
        if isinstance(outcome, Lost):
            raise ConnectionFailed(f"no answer came ({outcome.problem})")
        if outcome.status not in self.ask.done:
            raise failure_of(outcome)
        return self.ask.read(outcome)


def reads(kind: type[T], *members: str) -> Callable[[Reply], T]:
    """Return what makes a `kind` of an answer, or of a member of it."""

    def read(reply: Reply) -> T:
        given = reply.json()
        for member in members:
            if not isinstance(given, dict) or member not in given:
                raise UnexpectedAnswer(f"the answer has no {member}")
            given = given[member]
        return shaped(kind, given)

    return read


def reads_all(kind: type[T], member: str) -> Callable[[Reply], tuple[T, ...]]:
    """Return what makes a tuple of `kind` of a list that an answer has."""

    def read(reply: Reply) -> tuple[T, ...]:
        given = reply.json()
        rows = given.get(member) if isinstance(given, dict) else None
        if not isinstance(rows, list):
            raise UnexpectedAnswer(f"the answer has no {member}")
        return tuple(shaped(kind, row) for row in rows)

    return read


def nothing(_: Reply) -> None:
    """Make nothing of an answer."""


def given(**members: Any) -> dict[str, Any]:
    """Return the members that are to be sent: all but `KEEP`."""
    return {name: value for name, value in members.items() if value is not KEEP}


def present(**members: Any) -> dict[str, Any]:
    """Return the members that are there: all but None."""
    return {name: value for name, value in members.items() if value is not None}


def _quoted(id_: str) -> str:
    encoded = quote(id_, safe="")
    return encoded.replace(".", "%2E") if set(id_) <= {"."} else encoded
