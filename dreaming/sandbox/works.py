"""What closing a session has to do, as it is kept beside the session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graph.model.nodes.sandbox import SandboxSession
from rootward.sandbox.work import LayoutWork


def loaded(session: SandboxSession) -> list[LayoutWork]:
    """Return the work of each layout, in the order of their first run."""
    return [LayoutWork.from_dict(work) for work in session.works or ()]


def dumped(works: Iterable[LayoutWork]) -> list[dict[str, Any]]:
    """Return works as JSON."""
    return [work.as_dict() for work in works]
