"""What was said in a channel and in a private chat, and what was learned from it, for the endpoint of knowledge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp import Client

from graph.model.errors import RootwardError
from graph.model.ids import NodeId
from graph.services.access.session import Session, read
from tests.support.mcp_client import told
from tests.support.operations import apply, block, cite, create, made
from tests.support.world import TeamWorld

PATH = "/mcp/knowledge"
WORDS = ("Helio builds solar kilns.", "My salary is 90k.")


@dataclass(kw_only=True)
class Library:
    """What was said in the channel and in Ana's private chat, and what was learned from it."""

    world: TeamWorld
    gid: Callable[[NodeId], str]
    said: NodeId
    secret: NodeId
    entry: NodeId
    hidden: NodeId
    block: NodeId

    @property
    def refs(self) -> list[NodeId]:
        return [self.said, self.secret, self.entry, self.hidden, self.block, self.world.ops, self.world.atlas]

    async def ask(self, who: NodeId, work: Callable[[Session], Awaitable[Any]]) -> Any:
        """Ask the service; return the answer, or the code of what it raises."""
        try:
            return (await read(self.world.deps, self.world.caller(who), work))[0]
        except RootwardError as error:
            return {"error": error.wire_code}


async def make_library(world: TeamWorld, gid: Callable[[NodeId], str]) -> Library:
    """Let Ben speak in the channel and Ana in her chat, and let Atlas learn from both."""
    said = await world.say(world.ops, WORDS[0], speaker=world.ben)
    learned = await apply(world, create("Helio", block("Builds solar kilns.", cite(said, "builds solar kilns"))))
    secret = await world.say(world.chat, WORDS[1])
    private = (await world.open(world.chat)).id
    kept = await apply(
        world, create("Ana's salary", block("Ana earns 90k.", cite(secret, "salary is 90k"))), conversation=private
    )
    return Library(
        world=world,
        gid=gid,
        said=said,
        secret=secret,
        entry=made(learned),
        hidden=made(kept),
        block=made(learned, place=1),
    )


def code(body: Mapping[str, Any]) -> Any:
    """Return an answer, or the code of a failure."""
    return {"error": body["error"]["error"]} if "error" in body else body


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    """Return what a call gave."""
    return told(await client.call_tool(tool, arguments))
