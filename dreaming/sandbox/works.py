"""What closing a session has to do, as it is kept beside the session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from dreaming.sandbox.options import AskedGenerate
from graph.model.nodes.sandbox import SandboxSession
from rootward.sandbox.work import LayoutWork


def loaded(session: SandboxSession) -> list[LayoutWork]:
    """Return the work of each layout, in the order of their first run."""
    return [_loaded(work) for work in session.works or ()]


def dumped(works: Iterable[LayoutWork]) -> list[dict[str, Any]]:
    """Return works as JSON, with what their runtimes named of the configuration."""
    return [{**work.as_dict(), "given": _given(work)} for work in works]


def _loaded(kept: Mapping[str, Any]) -> LayoutWork:
    work, given = LayoutWork.from_dict(kept), kept.get("given")
    if work.generate is not None and given is not None:
        work.generate = AskedGenerate(**asdict(work.generate), given=given)
    return work


def _given(work: LayoutWork) -> dict[str, object] | None:
    return dict(work.generate.given) if isinstance(work.generate, AskedGenerate) else None
