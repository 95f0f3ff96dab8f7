"""What is told of an entry beside its content: its marks in lists, and of which document it is the mirror."""

from __future__ import annotations

import strawberry

from api.graphql.types.connectors import Connector
from graph.model.time import Millis
from graph.services.knowledge import entry_marks
from graph.services.knowledge.entry_choices import DraftWarning
from graph.services.knowledge.mirrored import MirroredView

strawberry.enum(DraftWarning)


@strawberry.type
class EntryMarks:
    """How much of an entry the caller sees, and what in it needs a look."""

    blocks: int = strawberry.field(description="Number of its blocks that the caller sees.")
    disputed: bool = strawberry.field(description="One of them is disputed.")
    stale: bool = strawberry.field(description="One of them needs another look.")

    @classmethod
    def from_domain(cls, marks: entry_marks.EntryMarks) -> EntryMarks:
        return cls(blocks=marks.blocks, disputed=marks.disputed, stale=marks.stale)


@strawberry.type
class EntryMirror:
    """The document that a read-only entry mirrors."""

    connector: Connector | None = strawberry.field(description="Null for who may not see it.")
    source_version: str = strawberry.field(description="The name that its place gives the mirrored version.")
    synced_at: Millis = strawberry.field(description="When its place was last asked for it.")
    state: str = strawberry.field(description="live or withdrawn.")

    @classmethod
    def from_domain(cls, view: MirroredView) -> EntryMirror:
        return cls(
            connector=None if view.connector is None else Connector.from_domain(view.connector),
            source_version=view.document.source_version,
            synced_at=view.document.asked_at,
            state=view.document.state,
        )
