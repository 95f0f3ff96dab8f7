"""A look at a Neo4j server: its version and its clock, nothing of what it holds."""

from __future__ import annotations

from dataclasses import dataclass

from neo4j import AsyncGraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

from graph.model.errors import StoreUnavailable

TIMEOUT_S = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What a server says of itself; `clock_s` in seconds since 1970."""

    text: str
    version: tuple[int, ...]
    clock_s: float


async def look(url: str, user: str, password: str) -> Seen:
    """Ask a server who it is.

    Raises:
        StoreUnavailable: it cannot be reached, or refuses the password.
    """
    try:
        async with AsyncGraphDatabase.driver(
            url, auth=(user, password), connection_timeout=TIMEOUT_S, telemetry_disabled=True
        ) as driver:
            agent = (await driver.get_server_info()).agent
            rows, _, _ = await driver.execute_query("RETURN datetime().epochMillis AS now")
    except (DriverError, Neo4jError, OSError) as error:
        raise StoreUnavailable("Neo4j cannot be reached: check store.url, store.user and store.password") from error
    number = agent.rpartition("/")[2]
    version = tuple(int(part) for part in number.split(".") if part.isdigit())
    return Seen(text=agent, version=version, clock_s=rows[0]["now"] / 1_000)
