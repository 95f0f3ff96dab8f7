"""Taking in events of external systems (MA-15 to MA-18): kept once each, or not at all where they are volatile."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from graph.model.edges import Edge, EdgeType
from graph.model.errors import NotFound
from graph.model.ids import NodeId, node_id
from graph.model.nodes.evidence import Source
from graph.model.nodes.learning import SignalSource
from graph.model.nodes.people import Principal
from graph.model.nodes.work import Receipt
from graph.rules.changes import Changes
from graph.rules.ingest import Arrival
from graph.rules.rights import may_host
from graph.rules.signals import IncomingSignal, check_signal, signal_as_source
from graph.services.access.commands import Command
from graph.services.access.people import find_one
from graph.services.idempotency import RECEIPTS
from graph.services.learning.pending import pend
from graph.services.ledger import COMMIT_GUARD, Commit, commit, hold


@dataclass(frozen=True, kw_only=True, slots=True)
class SignalReceipt:
    """What became of an event; `source_id` is None where nothing of it is kept."""

    stored: bool
    tx_id: str
    source_id: NodeId | None = None
    arrival: Arrival | None = None


async def ingest_signal(cmd: Command, signal_source_id: NodeId, signal: IncomingSignal) -> SignalReceipt:
    """Store an event as a source of the knowledge base to which its signal source is routed.

    A known external id changes nothing, wherever the first one went; of a volatile source nothing is written (MA-18).
    What is stored waits for Stage B.

    Raises:
        NotFound: no such signal source for the caller: hosts report, and the agent that it belongs to (AD-15).
        BadInput, LimitExceeded: the event cannot be taken.
    """
    check_signal(signal)
    await cmd.writer.lock([signal_source_id])
    found = await _source_of(cmd, signal_source_id)
    if found.volatile:
        return SignalReceipt(stored=False, tx_id=cmd.tx_id)
    assert found.pool is not None
    seen = _receipt_id(found, signal.external_id)
    await hold(cmd.writer, found.pool, [seen])
    known = (await cmd.writer.get(RECEIPTS, [seen])).get(seen)
    if isinstance(known, Receipt):
        first = NodeId(known.result["source"])
        return SignalReceipt(stored=True, tx_id=cmd.tx_id, source_id=first, arrival=Arrival.UNCHANGED)
    source = signal_as_source(signal, found, cmd.deps.new_id(Source.PREFIX), cmd.at)
    await _write(cmd, found.agent_id, source, seen)
    return SignalReceipt(stored=True, tx_id=cmd.tx_id, source_id=source.id, arrival=Arrival.STORED)


async def _source_of(cmd: Command, id_: NodeId) -> SignalSource:
    found = (await cmd.writer.get(COMMIT_GUARD, [id_])).get(id_)
    if not isinstance(found, SignalSource) or found.workspace != cmd.caller.workspace:
        raise NotFound
    own = found.agent_id == cmd.facts.principal and not cmd.facts.disabled
    if not (own or may_host(cmd.facts)):
        raise NotFound
    await find_one(cmd, found.agent_id, Principal)  # no events reach a deleted agent
    return found


async def _write(cmd: Command, agent: NodeId, source: Source, seen: NodeId) -> None:
    assert source.pool is not None
    changes = Changes(puts=[source])
    changes.links.append(Edge(type=EdgeType.SCOPED_TO, source=source.id, target=source.pool))
    pend(changes, source, agent)
    await commit(cmd.writer, cmd.deps, Commit(pool=source.pool, tx_id=cmd.tx_id, at=cmd.at), changes)
    remembered = Receipt(id=seen, workspace=source.workspace, created_at=cmd.at, result={"source": source.id})
    await cmd.writer.put([remembered])


def _receipt_id(of: SignalSource, external_id: str) -> NodeId:
    """Return the id of the row that says that an event was taken, even after its source was routed elsewhere."""
    named = f"{of.id}\x00{external_id}"
    return node_id(Receipt.PREFIX, "signal/" + hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest())
