"""What the entries of an owner can be narrowed by, and what is odd about words that are to be kept (CO-12, CO-18)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import BlockVersion, Entry
from graph.model.nodes.people import Principal
from graph.rules.guarding import LIVE_ENTRY
from graph.rules.guide import limits_of
from graph.rules.names import is_dated_name
from graph.rules.operations.limits import ENTRY_TYPES, MAX_BLOCK_TEXT, MAX_NAME, matches_transient
from graph.services.access.session import Session
from graph.services.knowledge.guide import curation_guide
from graph.services.knowledge.owners import readable_bases
from graph.services.settings import load_settings
from graph.store.query import Eq, Tagged


class DraftWarning(StrEnum):
    """What binds agents, and only warns people (KN-111)."""

    TRANSIENT_STATE = "transient_state"
    DATED_NAME = "dated_name"


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """What somebody is about to save; `type` is that of the entry, since an event may be dated."""

    name: str | None = None
    type: str | None = None
    text: str | None = None


async def entry_types(session: Session, owner_id: NodeId) -> Sequence[str]:
    """Return the types that entries of an owner may have, by name: the built-in ones and those of its guide."""
    guide = await curation_guide(session, owner_id)
    return sorted(ENTRY_TYPES | (limits_of(guide.text).types if guide else frozenset()))


async def entry_authors(session: Session, owner_id: NodeId) -> Sequence[Principal]:
    """Return who last changed an entry, or a current block, that the caller sees at an owner; by name, then by id."""
    pools = {base.id for base in await readable_bases(session, owner_id)}
    if not pools:
        return ()
    viewer = session.narrowed(pools)
    entries = await session.reader.aggregate(viewer, Entry, Tagged((LIVE_ENTRY,)), by="last_modifier_id")
    blocks = await session.reader.aggregate(viewer, BlockVersion, Eq("invalidated_at", None), by="modifier_id")
    shown = await session.open(sorted(id_ for id_ in {*entries, *blocks} if id_ is not None))
    found = [node for node in shown.values() if isinstance(node, Principal)]
    return sorted(found, key=lambda who: (who.display_name.casefold(), who.id))


async def draft_warnings(session: Session, owner_id: NodeId, draft: Draft) -> Sequence[DraftWarning]:
    """Return why an agent could not save these words at an owner; a person is warned by it and may go on (CO-18).

    What is longer than a block or a name can be is looked at so far: the patterns are fast on no more than that.
    """
    settings = await load_settings(session.reader, session.caller.workspace, owner_id)
    found: list[DraftWarning] = []
    if draft.text and matches_transient(settings["dream.transient_patterns"], draft.text[:MAX_BLOCK_TEXT]):
        found.append(DraftWarning.TRANSIENT_STATE)
    if draft.name and is_dated_name(draft.name[:MAX_NAME], entry_type=draft.type):
        found.append(DraftWarning.DATED_NAME)
    return found
