"""Claiming of jobs: the one that waits longest, by one worker only. Source: AD-33."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.store.neo4j.driver import Runner
from graph.store.neo4j.encoding import columns, decode_node

_CANDIDATES = 20

_IS_DUE = (
    "n.kind IN $kinds AND ((n.state = 'queued' AND n.dueAt <= $now) OR (n.state = 'running' AND n.leaseUntil <= $now))"
)


async def claim(runner: Runner, kinds: Sequence[str], owner: str, now: Millis, lease_ms: int) -> Job | None:
    """Take a job; others that want the same one wait for this transaction and then look again."""
    asked = {"kinds": list(kinds), "now": now}
    while True:
        rows = await runner.run(
            f"MATCH (n:Job) WHERE {_IS_DUE} RETURN n.id ORDER BY n.dueAt, n.id LIMIT $candidates",
            candidates=_CANDIDATES,
            **asked,
        )
        if not rows:
            return None
        for (id,) in rows:
            taken = await runner.run(
                f"MATCH (n:Job {{id: $id}}) SET n.lock = 0 WITH n WHERE {_IS_DUE} "
                "SET n.state = 'running', n.owner = $owner, n.fence = n.fence + 1, n.attempts = n.attempts + 1, "
                f"n.heartbeatAt = $now, n.leaseUntil = $now + $lease RETURN {columns('Job')}",
                id=id,
                owner=owner,
                lease=lease_ms,
                **asked,
            )
            if taken:
                return cast(Job, decode_node(taken[0][0]))
