"""What tests do to a Neo4j database behind the store's back. Community has one database, so it is emptied instead
of made anew.
"""

from __future__ import annotations

import re
from typing import Any

from neo4j import AsyncGraphDatabase

from graph.store.neo4j import schema
from graph.store.neo4j.driver import prepared

AUTH = ("neo4j", "password")


async def run(uri: str, statement: str, **parameters: Any) -> list[list[Any]]:
    """Run one statement and return its rows."""
    async with (
        AsyncGraphDatabase.driver(uri, auth=AUTH, notifications_min_severity="OFF") as driver,
        driver.session(database="neo4j") as session,
    ):
        return await (await session.run(statement, parameters)).values()


async def profile(uri: str, statement: str, **parameters: Any) -> dict[str, Any]:
    """Run one statement and return its plan with the work each operator did."""
    async with (
        AsyncGraphDatabase.driver(uri, auth=AUTH, notifications_min_severity="OFF") as driver,
        driver.session(database="neo4j") as session,
    ):
        text, given = prepared(statement, parameters)
        profiled = re.sub(r"^CYPHER 5( replan=skip)?", r"\g<0> PROFILE", text)
        summary = await (await session.run(profiled, given)).consume()
    assert summary.profile is not None
    return summary.profile


async def wipe(uri: str) -> None:
    """Remove every node; constraints and indexes stay."""
    await run(uri, "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS")


async def drop_schema(uri: str) -> None:
    """Remove the store's constraints and indexes, as on a database nobody has used yet."""
    async with (
        AsyncGraphDatabase.driver(uri, auth=AUTH, notifications_min_severity="OFF") as driver,
        driver.session(database="neo4j") as session,
        await session.begin_transaction() as transaction,
    ):
        for rule in schema.rules():
            sort = "CONSTRAINT" if rule.kind == "UNIQUE" else "INDEX"
            await (await transaction.run(f"DROP {sort} {rule.name} IF EXISTS")).consume()
        await transaction.commit()
