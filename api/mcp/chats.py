"""`/mcp/chats/{chat}`: `confide` alone, for the bot of a chat that the host speaks for (BM-65 to BM-74).

Nothing here may tell the bot where the tool leads: whatever it could read passes `is_unsaid` (BM-66).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from api.mcp.place import Told, ToolOffer, ToolRefused, ToolUse, UnknownTool, Visit
from dreaming.bots.confide import confide
from dreaming.bots.confide_tool import DESCRIPTION, NAME, SCHEMA, has_tool, is_unsaid
from graph.model.errors import BadInput, Forbidden, InvalidRequest, MissingObject, RootwardError
from graph.model.ids import NodeId, hosted_id
from graph.model.nodes.bots import Chat
from graph.services.access.session import read
from graph.services.bots.chat_access import CHAT_NOT_FOUND
from graph.services.bots.confiding import reported_chat, running_turn

PLAIN: Final = "this is not possible now: go on with your work"
_NO_TURN: Final = "no turn is going on here: go on with your work"


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatPlace:
    """The one tool of a bot in one chat."""

    name: ClassVar[str] = "chat"
    shelf: ClassVar[None] = None
    visit: Visit
    chat: Chat

    async def brief(self) -> str:
        """Return nothing: the tool speaks for itself."""
        return ""

    async def tools(self) -> Sequence[ToolOffer]:
        """Return the tool; a review has none (BM-71)."""
        return [ToolOffer(name=NAME, description=DESCRIPTION, schema=SCHEMA)] if has_tool(self.chat) else []

    async def use(self, name: str, use: ToolUse) -> Told:
        """Say something in confidence, in the turn that the address names or that runs."""
        if name != NAME:
            raise UnknownTool
        answer = await self._confided(_said(use.arguments), use.id)
        return Told(body={"answer": answer})

    def failure(self, error: RootwardError) -> Mapping[str, Any]:
        """Return the code and what to do, in words that tell nothing."""
        if isinstance(error, MissingObject):
            return {"error": error.wire_code, "message": _NO_TURN}
        told = {"error": "Forbidden" if isinstance(error, Forbidden) else error.wire_code, "message": error.message}
        return {"error": "Unavailable", "message": PLAIN} if any(is_unsaid(text) for text in told.values()) else told

    async def _confided(self, text: str, key: str | None) -> str:
        visit = self.visit
        turn = visit.query.get("turn") or await self._turn()
        try:
            return await confide(
                visit.deps, visit.kit.models, visit.caller, chat_id=self.chat.id, turn=turn, text=text, key=key
            )
        except Forbidden as error:
            raise ToolRefused(error) from error

    async def _turn(self) -> str:
        # What a review is refused does not depend on its turns.
        if not has_tool(self.chat):
            raise ToolRefused(Forbidden("a review has no such tool"))
        return (await read(self.visit.deps, self.visit.caller, lambda session: running_turn(session, self.chat)))[0]


async def open_chat(visit: Visit) -> ChatPlace:
    """Open a chat for its host.

    Raises:
        Forbidden: the caller hosts nothing.
        MissingObject: ``ChatNotFound``.
    """
    id_ = _chat_id(visit)
    chat, _ = await read(visit.deps, visit.caller, lambda session: reported_chat(session, id_))
    return ChatPlace(visit=visit, chat=chat)


def _chat_id(visit: Visit) -> NodeId:
    """Return the id that the path names; what can be none answers like an unknown one (BM-176, BM-183)."""
    try:
        return hosted_id(Chat.PREFIX, visit.caller.workspace, visit.ids["chat"])
    except BadInput:
        raise MissingObject(CHAT_NOT_FOUND) from None


def _said(arguments: Mapping[str, Any]) -> str:
    text = arguments.get("text")
    if not isinstance(text, str) or len(arguments) != 1:
        raise InvalidRequest("give the argument text, and no other", path="text")
    return text
