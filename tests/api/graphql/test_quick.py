"""The shorter way for plain fields answers what the library answers: data, order, errors and their paths."""

from __future__ import annotations

import asyncio
import json
from enum import Enum
from typing import Any

import pytest
import strawberry
from strawberry.types import Info

from api.graphql.quick import QuickExecutor


@strawberry.enum
class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@strawberry.interface
class Named:
    id: strawberry.ID


@strawberry.type
class Leaf(Named):
    text: str
    size: int
    ratio: float | None
    kept: bool
    colour: Colour
    words: list[str]
    sizes: list[int] | None


@strawberry.type
class Branch(Named):
    leaf: Leaf
    maybe: Leaf | None
    leaves: list[Leaf]
    gaps: list[Leaf | None]
    strict: list[Leaf] | None

    @strawberry.field
    async def later(self, fails: bool = False) -> Leaf:
        await asyncio.sleep(0)
        if fails:
            raise ValueError("later fails")
        return leaf("later")

    @strawberry.field
    async def slow_branch(self) -> Branch | None:
        await asyncio.sleep(0)
        return branch(leaves=[leaf("a"), leaf("b", text=None)])

    @strawberry.field
    def told(self, info: Info[Any, Any]) -> str:
        return f"{info.path.key} of {info.field_name}"


def leaf(id: str, **fields: Any) -> Leaf:
    given = {
        "text": "text",
        "size": 3,
        "ratio": 0.5,
        "kept": True,
        "colour": Colour.RED,
        "words": ["one", "two"],
        "sizes": None,
    }
    return Leaf(id=strawberry.ID(id), **{**given, **fields})


def branch(**fields: Any) -> Branch:
    given = {"leaf": leaf("leaf"), "maybe": None, "leaves": [leaf("x"), leaf("y")], "gaps": [leaf("g"), None]}
    return Branch(id=strawberry.ID("branch"), **{**given, "strict": [leaf("s")], **fields})


CASES: dict[str, Branch | None] = {
    "all in order": branch(maybe=leaf("m", ratio=None, sizes=[1, 2])),
    "null where none may be": branch(leaf=leaf("l", text=None)),
    "null in a leaf that may be null": branch(maybe=leaf("m", size=None)),
    "one of a list is not in order": branch(leaves=[leaf("x"), leaf("y", kept=None), leaf("z")]),
    "one of a nullable list is not in order": branch(strict=[leaf("x"), leaf("y", text=None)]),
    "null among objects": branch(leaves=[leaf("x"), None]),
    "null list": branch(leaves=None, strict=None),
    "another type": branch(leaf=branch()),
    "no object": branch(leaf="a text"),
    "too large a number": branch(maybe=leaf("m", size=2**40)),
    "a number for a text": branch(maybe=leaf("m", text=12)),
    "a text for a number": branch(maybe=leaf("m", size="12")),
    "no member of the enumeration": branch(maybe=leaf("m", colour="green")),
    "an error as a value": branch(maybe=leaf("m", text=ValueError("kept error"))),
    "null among texts": branch(maybe=leaf("m", words=["a", None])),
    "a tuple for a list": branch(leaves=(leaf("x"), leaf("y")), maybe=leaf("m", words=("a", "b"))),
    "a text for a list": branch(leaves="xy", maybe=leaf("m", words="ab")),
    "nothing": None,
}
LEAF = "{ id text size ratio kept colour words sizes }"
DOCUMENTS = {
    "plain": f"{{ branch {{ id leaf {LEAF} maybe {LEAF} leaves {LEAF} gaps {LEAF} strict {LEAF} }} }}",
    "mixed": f"{{ branch {{ later {LEAF} maybe {{ text }} told leaves {{ id }} slowBranch {{ leaves {LEAF} }} id }} }}",
    "failing": "{ branch { maybe { id } later(fails: true) { id } leaf { text } } }",
    "failing below": "{ branch { slowBranch { leaves { text } later(fails: true) { id } } maybe { text } } }",
    "named": """
        query Q($with: Boolean!) {
          first: branch { __typename ...Parts leaf { b: text a: size } }
          second: branch { leaf { text @include(if: $with) id @skip(if: $with) } ... on Branch { leaf { kept } } }
        }
        fragment Parts on Branch { maybe { __typename id } named: leaves { ...Text text } }
        fragment Text on Named { id ... on Leaf { size } }
    """,
}


def schema(value: Branch | None, executor: Any) -> strawberry.Schema:
    @strawberry.type
    class Query:
        @strawberry.field
        def branch(self) -> Branch | None:
            return value

    return strawberry.Schema(query=Query, execution_context_class=executor)


async def answer(value: Branch | None, document: str, executor: Any) -> tuple[str, list[str]]:
    variables = {"with": True} if "$with" in document else {}
    result = await schema(value, executor).execute(document, variable_values=variables)
    errors = sorted(json.dumps(error.formatted) for error in result.errors or ())
    return json.dumps(result.data), errors


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("case", CASES)
async def test_answer_is_that_of_the_library(case: str, document: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strawberry.Schema, "process_errors", lambda *_: None)
    quick = await answer(CASES[case], DOCUMENTS[document], QuickExecutor)
    assert quick == await answer(CASES[case], DOCUMENTS[document], None)


async def test_plain_fields_take_the_shorter_way(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    slow = QuickExecutor.execute_field

    def noted(self: Any, parent: Any, source: Any, details: Any, path: Any, position: Any) -> Any:
        asked.append(details[0].node.name.value)
        return slow(self, parent, source, details, path, position)

    monkeypatch.setattr(QuickExecutor, "execute_field", noted)
    await answer(CASES["all in order"], DOCUMENTS["plain"], QuickExecutor)
    assert asked == ["branch", "gaps"]
