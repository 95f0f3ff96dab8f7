"""How often a transaction goes to the server, and that what is sent shows nothing of itself."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest

from graph.model.access import SystemScope
from graph.model.edges import EdgeType
from graph.model.errors import StoreUnavailable
from graph.model.ids import NodeId
from graph.store.neo4j.asking import First, Question
from graph.store.neo4j.driver import InTransaction, prepared
from graph.store.neo4j.writer import Neo4jWriter
from graph.store.query import Direction
from tests.support.builders import World

WORLD = World()
ENTRY = WORLD.make_entry()
PERSON = WORLD.make_principal()
ANYWHERE = SystemScope(reason="test")
ALL = tuple(EdgeType)


class Noting(InTransaction):
    """A server that gives the same for everything and notes what it is asked.

    Attributes:
        asked: the parameters of each statement, in order.
        statements: the statements.
    """

    def __init__(self, gives: Any = ()) -> None:
        self.asked: list[dict[str, Any]] = []
        self.statements: list[str] = []
        self._gives = gives

    async def run(self, statement: str, /, **parameters: Any) -> list[list[Any]]:
        self.asked.append(parameters)
        self.statements.append(statement)
        _, _, given = statement.rpartition(" RETURN ")
        columns = given.split(", ")
        if given.startswith("collect("):
            return [[self._gives]]
        if given.startswith("["):  # several answers in one list
            return [[[self._gives for _ in columns]]]
        return [[self._gives for _ in columns]]


@pytest.fixture
def server() -> Noting:
    return Noting()


@pytest.fixture
def writer(server: Noting) -> Neo4jWriter:
    return Neo4jWriter(server)


async def test_nodes_go_with_their_texts_and_rows_in_one_statement(writer: Neo4jWriter, server: Noting) -> None:
    await writer.delete([NodeId("ent_b"), NodeId("ent_a"), NodeId("ent_b")])
    await writer.delete([NodeId("ent_c")])
    await writer.flush()
    gone = ["ent_a", "ent_b", "ent_c"]
    assert server.asked == [{"ids": gone, "kinds": dict.fromkeys(gone, "Entry")}]
    await writer.flush()
    assert len(server.asked) == 1, "nothing waits"


async def test_what_is_removed_goes_before_what_is_written() -> None:
    class Removing(Noting):
        async def run(self, statement: str, /, **parameters: Any) -> list[list[Any]]:
            await super().run(statement, **parameters)
            return [[[], [[], []], 0]]

    server = Removing()
    writer = Neo4jWriter(server)
    await writer.delete([NodeId("ent_a")])
    await writer.put([ENTRY])
    await writer.hold(ANYWHERE, [PERSON.id])
    (asked,) = server.asked
    assert [set(asked[place]) & {"ids", "kinds", "nodes"} for place in ("s0", "s1", "s2")] == [
        {"ids"},
        {"ids", "kinds"},
        {"nodes"},
    ]


async def test_what_is_to_be_removed_is_gone_for_whoever_asks(writer: Neo4jWriter, server: Noting) -> None:
    for ask in (
        lambda: writer.get(ANYWHERE, [ENTRY.id]),
        lambda: writer.guards([ENTRY.id]),
        lambda: writer.audiences([ENTRY.id]),
        lambda: writer.texts_of([ENTRY.id]),
        lambda: writer.closure([PERSON.id], ALL, Direction.OUT),
        lambda: writer.hold(ANYWHERE, [ENTRY.id]),
        lambda: writer.put([ENTRY]),
    ):
        server.statements.clear()
        await writer.delete([ENTRY.id])
        await ask()
        assert "REMOVE n:" in server.statements[0]


async def test_texts_are_looked_for_together_with_what_they_hang_on(writer: Neo4jWriter, server: Noting) -> None:
    text = WORLD.text_for(ENTRY, "red tea")
    await writer.index([text])
    assert server.asked == [{"ids": [ENTRY.id], "keys": [text.id]}]
    await writer.flush()
    assert [row[2]["id"] for row in server.asked[1]["newTexts"]] == [text.id]


async def test_texts_go_in_one_statement(writer: Neo4jWriter, server: Noting) -> None:
    await writer.unindex(["b", "a"])
    assert server.asked == [{"keys": ["a", "b"]}]


async def test_a_new_node_with_all_that_belongs_to_it_takes_one(writer: Neo4jWriter, server: Noting) -> None:
    await writer.put([ENTRY])
    await writer.guard([WORLD.guard_for(ENTRY)])
    await writer.admit([WORLD.audience_for(ENTRY)])
    await writer.index([WORLD.text_for(ENTRY, "red tea", id=f"{ENTRY.id}#name")])
    await writer.flush()
    assert len(server.asked) == 1, "a constraint objects if it is there"


async def test_whoever_is_cautious_looks_first(server: Noting) -> None:
    writer = Neo4jWriter(server, cautious=True)
    await writer.put([ENTRY])
    assert server.asked == [{"ids": [ENTRY.id]}]
    await writer.flush()
    assert len(server.asked) == 2


async def test_what_the_transaction_has_locked_is_looked_for(writer: Neo4jWriter, server: Noting) -> None:
    await writer.lock([ENTRY.id])
    await writer.put([ENTRY])
    assert server.asked == [{"ids": [ENTRY.id]}] * 2, "a lock on what is missing makes a placeholder"


async def test_what_is_asked_together_and_first_takes_one() -> None:
    server, begun = Noting(gives=[]), list[Any]()
    writer = Neo4jWriter(server, First(Question("CREATE (:Begun {by: $who})", "count(*)", {"who": "me"}), begun.append))
    found, kinds = await writer.together(
        [lambda: writer.get(ANYWHERE, [ENTRY.id]), lambda: writer.edges(ANYWHERE, [ENTRY.id], ALL, Direction.OUT)]
    )
    assert (begun, found, kinds) == ([[]], {}, [])
    (statement,) = server.statements
    assert [part in statement for part in ("$s0.who", "$s1.ids", "$s2.ids")] == [True] * 3
    looked = {"ids": [ENTRY.id], "workspace": None}
    assert server.asked == [{"s0": {"who": "me"}, "s1": looked, "s2": looked}]


async def test_each_question_waits_for_the_one_before() -> None:
    server = Noting(gives=[])
    writer = Neo4jWriter(server)
    look = partial(writer.get, ANYWHERE, [ENTRY.id])
    await writer.together([look, look, look])
    calls = re.findall(r"CALL \((\w*)\) \{ UNWIND", server.statements[0])
    assert calls == ["", "answer0", "answer1"]


async def test_what_waits_goes_along_with_the_last_look(writer: Neo4jWriter, server: Noting) -> None:
    await writer.put([ENTRY])
    assert await writer.hold(ANYWHERE, [PERSON.id]) == {}
    await writer.flush()
    assert len(server.asked) == 1, "nothing waits"
    await writer.hold(ANYWHERE, [PERSON.id])
    assert set(server.asked[1]) == {"ids", "workspace"}, "nothing waited"


async def test_who_asks_together_learns_of_a_failure_all_alike() -> None:
    class Failing(Noting):
        async def run(self, statement: str, /, **parameters: Any) -> list[list[Any]]:
            raise StoreUnavailable("gone")

    writer = Neo4jWriter(Failing())
    seen: list[str] = []

    async def look() -> None:
        try:
            await writer.get(ANYWHERE, [ENTRY.id])
        except StoreUnavailable as error:
            seen.append(str(error))
            raise

    with pytest.raises(StoreUnavailable):
        await writer.together([look, look])
    assert seen == ["gone", "gone"]


async def test_one_node_is_looked_for_by_its_id_and_not_among_all_of_its_kind() -> None:
    counting, changing = Noting(gives=[3]), Noting(gives=[[]])
    assert await Neo4jWriter(counting).increment(ENTRY.id, "current_version") == 3
    await Neo4jWriter(changing).patch(ENTRY.id, {"name": "tea"})
    for server in (counting, changing):
        (asked,) = server.statements
        assert "USING INDEX SEEK n:Node(id)" in asked


def test_parameters_show_nothing_of_themselves() -> None:
    text, parameters = prepared("RETURN $word", {"word": "secret"})
    assert parameters == {"p": {"word": "secret"}}
    assert "secret" not in f"{text} {parameters!r} {parameters}"
