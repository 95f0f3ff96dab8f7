"""How often a transaction goes to the server, and that what is sent shows nothing of itself."""

from __future__ import annotations

from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.store.neo4j.driver import InTransaction, prepared
from graph.store.neo4j.writer import Neo4jWriter
from tests.support.builders import World

WORLD = World()
ENTRY = WORLD.make_entry()


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
        _, _, given = statement.rpartition("RETURN ")
        return [[self._gives for _ in given.split(", ")]]


@pytest.fixture
def server() -> Noting:
    return Noting()


@pytest.fixture
def writer(server: Noting) -> Neo4jWriter:
    return Neo4jWriter(server)


async def test_nodes_go_with_their_texts_and_rows_in_one_statement(writer: Neo4jWriter, server: Noting) -> None:
    await writer.delete([NodeId("ent_b"), NodeId("ent_a"), NodeId("ent_b")])
    assert server.asked == [{"ids": ["ent_a", "ent_b"]}]
    await writer.flush()
    assert len(server.asked) == 1, "nothing waits"


async def test_texts_are_looked_for_together_with_what_they_hang_on(writer: Neo4jWriter, server: Noting) -> None:
    text = WORLD.text_for(ENTRY, "red tea")
    await writer.index([text])
    assert server.asked == [{"ids": [ENTRY.id], "keys": [text.id]}]
    await writer.flush()
    assert [row[2]["id"] for row in server.asked[1]["newTexts"]] == [text.id]


async def test_texts_go_in_one_statement(writer: Neo4jWriter, server: Noting) -> None:
    await writer.unindex(["b", "a"])
    assert server.asked == [{"keys": ["a", "b"]}]


async def test_a_new_node_with_all_that_belongs_to_it_takes_two(writer: Neo4jWriter, server: Noting) -> None:
    await writer.put([ENTRY])
    await writer.guard([WORLD.guard_for(ENTRY)])
    await writer.admit([WORLD.audience_for(ENTRY)])
    await writer.index([WORLD.text_for(ENTRY, "red tea", id=f"{ENTRY.id}#name")])
    await writer.flush()
    assert len(server.asked) == 2, "whether it is there, and all of it"


async def test_one_node_is_looked_for_by_its_id_and_not_among_all_of_its_kind() -> None:
    counting, changing = Noting(gives=3), Noting()
    assert await Neo4jWriter(counting).increment(ENTRY.id, "current_version") == 3
    await Neo4jWriter(changing).patch(ENTRY.id, {"name": "tea"})
    for server in (counting, changing):
        (asked,) = server.statements
        assert "USING INDEX SEEK n:Node(id)" in asked


def test_parameters_show_nothing_of_themselves() -> None:
    text, parameters = prepared("RETURN $word", {"word": "secret"})
    assert parameters == {"p": {"word": "secret"}}
    assert "secret" not in f"{text} {parameters!r} {parameters}"
