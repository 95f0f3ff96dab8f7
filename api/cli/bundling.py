"""Makes an evidence bundle for an auditor and writes it into a folder."""

from __future__ import annotations

import asyncio
from pathlib import Path

from api.cli.bundle_files import write_bundle
from api.graphql.ids import to_node
from graph.services.access.caller import Caller
from graph.services.access.recorded_reads import record_reads
from graph.services.access.session import read
from graph.services.deps import Deps
from graph.services.knowledge.evidence_bundle import evidence_bundle


async def bundle(deps: Deps, caller: Caller, id_: str, target: Path) -> int:
    """Write the evidence for one node and return how many files it has.

    Args:
        deps: the ports.
        caller: an auditor of the knowledge base.
        id_: the global id of a statement, an entry or a source.
        target: a folder that does not exist yet.

    Raises:
        NotFound, Forbidden: as `evidence_bundle` says.
        BadState: there is something at `target`.
    """
    made, session = await read(deps, caller, lambda s: evidence_bundle(s, to_node(id_, caller.workspace)))
    await record_reads(deps, caller, session.recorded)
    await asyncio.to_thread(write_bundle, made, target)
    return len(made.files)
