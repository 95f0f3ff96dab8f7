"""`/mcp/knowledge`: search, browse and trace what the caller may read; it changes nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from api.mcp.knowledge_shapes import (
    BrowseArguments,
    SearchArguments,
    TraceArguments,
    found_json,
    page_json,
    schema_of,
    taken,
    trace_json,
)
from api.mcp.place import Shelf, Told, ToolOffer, ToolUse, UnknownTool, Visit
from api.mcp.reading import Reading
from api.mcp.shelf import KnowledgeShelf
from api.node_ids import outward
from graph.model.errors import BadInput, NotFound, RootwardError
from graph.model.ids import NodeId
from graph.model.nodes.people import Principal
from graph.rules.provenance import Direction
from graph.services.access.session import Session
from graph.services.knowledge.owners import owners
from graph.services.knowledge.provenance import provenance
from graph.services.search.browse import memory_browse
from graph.services.search.search import memory_search
from graph.services.search.values import SearchQuestion

MAX_AGENTS: Final = 100
BRIEF: Final = (
    "Knowledge that was learned from what people said and handed in. Search it first; browse a result that was cut; "
    "trace a statement to who said it before you rely on it. You see only what its owner lets you see."
)

Arguments = Mapping[str, Any]


async def _search(reading: Reading, arguments: Arguments) -> dict[str, Any]:
    given = taken(SearchArguments, arguments)

    async def work(session: Session) -> dict[str, Any]:
        question = SearchQuestion(
            query=given.query,
            conversation_id=reading.conversation,
            owner_id=None if reading.conversation is not None else await _owner(session, reading, given.agent),
            total_tokens=given.max_tokens,
            max_items=given.max_items,
        )
        return found_json(await memory_search(session, question), reading.outside)

    return await reading.run(work)


async def _browse(reading: Reading, arguments: Arguments) -> dict[str, Any]:
    given = taken(BrowseArguments, arguments)

    async def work(session: Session) -> dict[str, Any]:
        page = await memory_browse(
            session,
            reading.inside(given.ref),
            conversation_id=reading.conversation,
            after=given.after,
            before=given.before,
            max_tokens=given.max_tokens,
        )
        return page_json(page, reading.outside)

    return await reading.run(work)


async def _trace(reading: Reading, arguments: Arguments) -> dict[str, Any]:
    given = taken(TraceArguments, arguments)

    async def work(session: Session) -> dict[str, Any]:
        found = await provenance(
            session, reading.inside(given.ref), depth=given.depth, direction=Direction(given.direction)
        )
        return trace_json(found, reading.outside)

    return await reading.run(work)


async def _owner(session: Session, reading: Reading, agent: str) -> NodeId:
    """Return the agent whose knowledge is meant: the one that is named, or the only one that the caller reads.

    Raises:
        NotFound: he reads no knowledge, or none of an agent of this name.
        BadInput: he reads that of several; `agents` names them.
    """
    agents = (await owners(session, first=MAX_AGENTS)).items
    fitting = [one for one in agents if not agent or _is_named(one, reading, agent)]
    if not fitting:
        raise NotFound("there is no agent of this name whose knowledge you read" if agent else "you read no knowledge")
    if len(fitting) > 1:
        named = [{"id": reading.outside(one.id), "name": one.display_name} for one in fitting]
        raise BadInput("name one agent in the argument agent", field="agent", agents=named)
    return fitting[0].id


def _is_named(agent: Principal, reading: Reading, given: str) -> bool:
    return given == reading.outside(agent.id) or agent.display_name.casefold() == given.casefold()


_Call = Callable[[Reading, Arguments], Awaitable[dict[str, Any]]]
_CALLS: Final[Mapping[str, _Call]] = {"search": _search, "browse": _browse, "trace": _trace}
TOOLS: Final = (
    ToolOffer(
        name="search",
        description="Find what is known about a question: entries, episodes and messages, each with its sources.",
        schema=schema_of(SearchArguments),
        reads=True,
    ),
    ToolOffer(
        name="browse",
        description="Read the whole of an entry, episode, conversation, thread or source, page by page.",
        schema=schema_of(BrowseArguments),
        reads=True,
    ),
    ToolOffer(
        name="trace",
        description="Show what a statement rests on, down to the words that people said, or what rests on a source.",
        schema=schema_of(TraceArguments),
        reads=True,
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class KnowledgePlace:
    """Read tools over what the caller may see."""

    name: ClassVar[str] = "knowledge"
    visit: Visit

    @property
    def shelf(self) -> Shelf:
        """Entries and sources."""
        return KnowledgeShelf(reading=Reading(visit=self.visit))

    async def brief(self) -> str:
        """Return how the tools go together."""
        return BRIEF

    async def tools(self) -> Sequence[ToolOffer]:
        """Return the tools, the same for everybody."""
        return TOOLS

    async def use(self, name: str, use: ToolUse) -> Told:
        """Call a tool."""
        if name not in _CALLS:
            raise UnknownTool
        return Told(body=await _CALLS[name](Reading(visit=self.visit), use.arguments))

    def failure(self, error: RootwardError) -> Mapping[str, Any]:
        """Return the code and what to do, with details that name no internal id."""
        details = outward(dict(error.details), self.visit.caller.workspace)
        return {"error": error.wire_code, "message": error.message, "details": details}


async def open_knowledge(visit: Visit) -> KnowledgePlace:
    """Open the knowledge of whoever asks: what he sees is decided at each read."""
    return KnowledgePlace(visit=visit)
