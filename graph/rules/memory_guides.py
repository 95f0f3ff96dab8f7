"""The guide of a memory: its own, the deployment's, or the one that is built in (FM-30 to FM-33)."""

from __future__ import annotations

from typing import Final

from graph.model.nodes.workspace import MemoryKind, WorkspaceMemory
from graph.rules.memory_limits import MemoryLimits

FILE_GUIDE: Final = """\
Keep what will matter in later conversations: preferences, decisions, conventions, reference facts.
One subject a file, with a short path that says what it is about, such as notes/style.md.
Begin a file with frontmatter whose description tells in one line what is in it.
Change a file that is there rather than writing the same thing twice, and delete what is no longer true.
Never store secrets.
"""
RECORD_GUIDE: Final = """\
Keep short facts that will matter in later conversations, one a record, in a sentence that can be read alone.
Search before you add; correct the record that is there rather than adding another one.
Never store secrets.
"""


def inherited_guide(kind: str, limits: MemoryLimits) -> str:
    """Return what a memory of this kind uses if it has no guide of its own."""
    if kind == MemoryKind.FILE:
        return FILE_GUIDE if limits.default_guide_file is None else limits.default_guide_file
    return RECORD_GUIDE if limits.default_guide_record is None else limits.default_guide_record


def guide_of(memory: WorkspaceMemory, limits: MemoryLimits) -> str:
    """Return the guide in force; "" is none at all."""
    return inherited_guide(memory.kind, limits) if memory.guide is None else memory.guide
