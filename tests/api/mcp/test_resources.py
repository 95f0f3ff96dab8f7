"""Entries and sources as resources: as their reader sees them, page by page, and with a trace where one is due."""

from __future__ import annotations

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents

from api.mcp.shelf import ENTRIES, PAGE, SOURCES
from graph.services.knowledge.projection import projection
from tests.api.mcp.conftest import Connect
from tests.api.mcp.library import PATH, WORDS, Library, call
from tests.support.operations import apply, block, cite, create
from tests.unit.graph.services.access.test_recorded_reads import records


async def test_resources_are_entries_as_their_reader_sees_them_and_sources(connect: Connect, library: Library) -> None:
    world, gid = library.world, library.gid

    async def text(client: Client, uri: str) -> str:
        [content] = (await client.read_resource(uri)).contents
        assert isinstance(content, TextResourceContents)
        return content.text

    async with connect(PATH, await world.token(world.ana)) as client:
        listed = (await client.list_resources()).resources
        assert {one.name for one in listed} == {"Helio", "Ana's salary"}
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == [f"{ENTRIES}{{ref}}", f"{SOURCES}{{ref}}"]
        shown = await library.ask(world.ana, lambda session: projection(session, library.entry))
        assert await text(client, f"{ENTRIES}{gid(library.entry)}") == shown
        heading, _, words = (await text(client, f"{SOURCES}{gid(library.said)}")).partition("\n\n")
        assert words == WORDS[0]
        assert heading.startswith("message")


async def test_a_long_list_of_resources_comes_page_by_page(connect: Connect, library: Library) -> None:
    world = library.world
    await apply(world, *(create(f"Kiln {n}", block("Hot.", cite(library.said, "solar kilns"))) for n in range(PAGE)))
    names: list[str] = []
    async with connect(PATH, await world.token(world.ben)) as client:
        page = await client.list_resources()
        while True:
            names += [one.name for one in page.resources]
            if page.next_cursor is None:
                break
            page = await client.list_resources(cursor=page.next_cursor)
        with pytest.raises(MCPError) as refused:
            await client.list_resources(cursor="x")
        assert refused.value.error.data["code"] == "CURSOR_INVALID"
    assert sorted(names) == sorted(["Helio", *(f"Kiln {n}" for n in range(PAGE))])


@pytest.mark.req("KN-59")
async def test_an_auditors_reading_of_a_private_chat_is_recorded(connect: Connect, library: Library) -> None:
    world, gid = library.world, library.gid
    async with connect(PATH, await world.token(world.cleo)) as client:
        assert await records(world) == []
        await call(client, "browse", ref=gid(library.secret))
        assert [(one.actor_id, one.operation) for one in await records(world)] == [(world.cleo, "access.read")]
        await client.read_resource(f"{SOURCES}{gid(library.secret)}")
        assert len(await records(world)) == 2
