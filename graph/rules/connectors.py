"""When a connector is looked at, and which of its documents are asked for then. Pure. Source: MA-19, MA-20, MA-25."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Final

from graph.model.ids import NodeId
from graph.model.nodes.learning import Connector, Mirror
from graph.model.time import MINUTE_MS, Millis
from graph.ports import ListedDocument, Look
from graph.rules.mirrors import LIVE

SYNC_CONNECTOR: Final = "sync_connector"
MAX_EXTERNAL_ID: Final = 1_000


class ConnectorState(StrEnum):
    """Life of a connector. What is removed withdraws its documents; a paused one leaves them as they are."""

    ACTIVE = "active"
    PAUSED = "paused"
    REMOVED = "removed"


def sync_key(connector: NodeId) -> str:
    """Return what makes the job of a connector the only one."""
    return f"{SYNC_CONNECTOR}:{connector}"


def is_due(connector: Connector, now: Millis, sync_minutes: float) -> bool:
    """Return whether a connector is to be looked at without a notice (MA-20)."""
    if connector.state != ConnectorState.ACTIVE:
        return False
    last = connector.last_sync_at
    return last is None or now - last >= sync_minutes * MINUTE_MS


def to_open(look: Look, known: Mapping[str, Mirror], now: Millis) -> list[ListedDocument]:
    """Return the listed documents that must be opened, in the order of the listing.

    These are new ones, those of another version, and those that are not live or were missed: that they are listed
    does not yet say that they may be read; where it never does, also those that were not asked for in a while.
    """
    before = None if look.ask_for_listed is None else now - look.ask_for_listed // timedelta(milliseconds=1)
    return [one for one in _once(look.documents) if _is_new(one, known.get(one.external_id), before)]


def to_ask_for(look: Look, known: Mapping[str, Mirror], now: Millis) -> list[Mirror]:
    """Return what was there before, is not listed now and should be asked for, the longest unasked first."""
    if look.ask_for_others is None:
        return []
    listed = {one.external_id for one in look.documents}
    before = now - look.ask_for_others // timedelta(milliseconds=1)
    others = (mirror for name, mirror in known.items() if name not in listed and mirror.entry_id is not None)
    due = (mirror for mirror in others if mirror.misses or mirror.asked_at <= before)
    return sorted(due, key=lambda mirror: (mirror.asked_at, mirror.id))


def _is_new(listed: ListedDocument, mirror: Mirror | None, before: int | None) -> bool:
    if mirror is None or mirror.source_version != listed.version:
        return True
    if before is not None and mirror.asked_at <= before:
        return True
    return (mirror.state != LIVE or mirror.misses > 0) and mirror.problem is None


def _once(documents: Iterable[ListedDocument]) -> Iterable[ListedDocument]:
    """Return each document once, and none whose name is too long to be kept."""
    found: dict[str, ListedDocument] = {}
    for document in documents:
        if 0 < len(document.external_id) <= MAX_EXTERNAL_ID:
            found.setdefault(document.external_id, document)
    return found.values()
