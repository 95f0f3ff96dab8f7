"""All routes under /api/v1, and what the reference says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from api.rest.openapi import Reference
from api.rest.workspace import (
    agents,
    audit,
    files,
    memories,
    memory_reference,
    providers,
    record_reference,
    records,
    revisions,
    run_reference,
    runs,
    sandbox_files,
    sandbox_reference,
    sandbox_runs,
    sandboxes,
    threads,
    tools,
)
from api.rest.workspace.kit import PREFIX, WHandler


def table() -> Mapping[str, Mapping[str, WHandler]]:
    """Return the routes by path, in the order in which they are tried."""
    return {
        **memories.table(),
        **files.table(),
        **revisions.table(),
        **providers.table(),
        **records.table(),
        **audit.table(),
        **threads.table(),
        **agents.table(),
        **runs.table(),
        **tools.table(),
        **sandboxes.table(),
        **sandbox_files.table(),
        **sandbox_runs.table(),
    }


def references() -> Sequence[Reference]:
    """Return what the OpenAPI document says of these routes."""
    return [
        {f"{PREFIX}{path.replace(':path}', '}')}": operations for path, operations in reference.items()}
        for reference in (
            memory_reference.REFERENCE,
            record_reference.REFERENCE,
            run_reference.REFERENCE,
            sandbox_reference.REFERENCE,
        )
    ]
