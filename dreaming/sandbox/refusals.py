"""What the library refuses, in the words of the routes: codes and fields. Source: SB-59, SB-110, SB-112."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from graph.model.errors import WorkspaceRefused
from graph.model.ids import NodeId
from graph.rules.memory_refusals import conflicting, invalid
from graph.rules.workspace_ids import outside
from graph.services.sandbox.finding import KIND
from rootward.errors import InvalidConversationId, InvalidLayout, InvalidSegment, MemoryLayoutClash, SegmentTooLarge


@contextmanager
def refusing(session_id: NodeId) -> Iterator[None]:
    """Refuse what the library refuses.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at the field, ``payload_too_large``, ``conflict`` with reason
            ``memory_layout``.
    """
    try:
        yield
    except InvalidConversationId as error:
        raise invalid(error.field, "begins with a letter or digit and has up to 128 of A-Z a-z 0-9 . _ -") from None
    except InvalidLayout as error:
        raise invalid(f"layout.{error.field}", "cannot hold memory") from None
    except MemoryLayoutClash:
        raise conflicting(KIND, outside(session_id), "memory_layout") from None
    except SegmentTooLarge as error:
        raise WorkspaceRefused("payload_too_large", "the segment is too large", limit=error.limit) from None
    except InvalidSegment:
        raise invalid("segment", "is no segment of a run") from None
