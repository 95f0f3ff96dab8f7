"""The way in to the nodes of one kind: an index that fits few of them, the far end of a link, or the whole kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from graph.model import schema
from graph.model.edges import EdgeType
from graph.model.fields import Node
from graph.store.neo4j import names
from graph.store.neo4j.conditions import Compiler, parts_of, relationship_types
from graph.store.neo4j.driver import Runner
from graph.store.query import And, By, Eq, In, IsSet, Linked, Order, Range, Where

FEW = 2_000
"""A way in that meets at most so many nodes, hidden ones included, is taken; otherwise the audience rows are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entrance:
    """Start of a statement that binds ``n``; a WHERE follows.

    Attributes:
        text: the start.
        condition: what the start alone does not guarantee.
        parameters: its values, named apart from those of a `Compiler`.
        ordered: true if the nodes of a workspace come newest first.
        leading: the fixed fields before that of the order, of an index that has the order.
    """

    text: str
    condition: str = "true"
    parameters: dict[str, Any]
    ordered: bool = False
    leading: tuple[str, ...] | None = None


def through_kind(kind: type[Node], where: Where | None) -> Entrance:
    """Return the way in for a scope that sees all: from the far end of a link if one is asked, else by the planner."""
    return next(_through_links(kind, where), Entrance(text=f"MATCH (n:{kind.__name__})", parameters={}))


def in_order(kind: type[Node]) -> Entrance:
    """Return the way in that meets the guarded nodes of the viewer's workspace, newest first."""
    return Entrance(
        text=f"MATCH (n:{kind.__name__}) USING INDEX SEEK n:{kind.__name__}(workspaceId, guardSort)",
        condition="n.workspaceId = $workspace AND n.guardSort > ''",
        parameters={},
        ordered=True,
    )


def along_order(kind: type[Node], where: Where | None, order: Order) -> Entrance | None:
    """Return the way in along a compound index that fixes what the condition fixes and then has the order's field.

    It begins where the condition bounds that field: the last three before a moment must not meet all that came after.
    """
    spec, fixed = schema.kinds()[kind.__name__], {part.field: part for part in parts_of(where) if _is_fixed(part)}
    if not isinstance(order, By) or names.field_of(kind, order.field).nullable:
        return None
    for fields in (*spec.unique, *spec.indexes):
        *leading, last = fields
        if last == order.field and leading and fixed.keys() >= set(leading):
            compiler = Compiler(kind, prefix="along")
            bounds: list[Where] = [part for part in parts_of(where) if isinstance(part, Range) and part.field == last]
            held = ", ".join(f"`{names.property_of(kind.__name__, name)}`" for name in fields)
            return Entrance(
                text=f"MATCH (n:{kind.__name__}) USING INDEX SEEK n:{kind.__name__}({held})",
                condition=compiler.where(And([*(fixed[name] for name in leading), *(bounds or [IsSet(last)])])),
                parameters=compiler.parameters,
                leading=tuple(leading),
            )
    return None


def ways_in(kind: type[Node], where: Where | None) -> Sequence[Entrance]:
    """Return the ways in that may meet only few nodes."""
    return (*_through_links(kind, where), *_through_compounds(kind, where), *_through_indexes(kind, where))


async def narrow(runner: Runner, kind: type[Node], where: Where | None) -> Entrance | None:
    """Return a way in that meets only few nodes, if there is one; costs a small round trip for each that is tried."""
    for entrance in ways_in(kind, where):
        ((count,),) = await runner.run(
            f"{entrance.text} WHERE {entrance.condition} WITH n LIMIT $few RETURN count(n)",
            few=FEW + 1,
            **entrance.parameters,
        )
        if count <= FEW:
            return entrance
    return None


def _through_links(kind: type[Node], where: Where | None) -> Iterator[Entrance]:
    for part in parts_of(where):
        types = relationship_types(map(EdgeType, part.types)) if isinstance(part, Linked) else ""
        if isinstance(part, Linked) and types:
            yield Entrance(
                text=(
                    "UNWIND $targets AS target MATCH (t:Node {id: target}) USING INDEX SEEK t:Node(id) "
                    f"MATCH (n:{kind.__name__})-[:{types}]->(t) WITH DISTINCT n"
                ),
                parameters={"targets": list(dict.fromkeys(part.targets))},
            )


def _through_compounds(kind: type[Node], where: Where | None) -> Iterator[Entrance]:
    """Yield the indexes of which the condition fixes every field, to one value or to a few: they meet the fewest."""
    spec = schema.kinds()[kind.__name__]
    fixed = {part.field: part for part in parts_of(where) if isinstance(part, In) or _is_fixed(part)}
    for fields in (*spec.unique, *spec.indexes):
        if len(fields) > 1 and fixed.keys() >= set(fields):
            compiler = Compiler(kind, prefix="entrance")
            held = ", ".join(f"`{names.property_of(kind.__name__, name)}`" for name in fields)
            yield Entrance(
                text=f"MATCH (n:{kind.__name__}) USING INDEX SEEK n:{kind.__name__}({held})",
                condition=compiler.where(And([fixed[name] for name in fields])),
                parameters=compiler.parameters,
            )


def _through_indexes(kind: type[Node], where: Where | None) -> Iterator[Entrance]:
    for part in parts_of(where):
        if isinstance(part, Eq | In) and _is_indexed(kind, part):
            compiler = Compiler(kind, prefix="entrance")
            label = names.NODE if part.field == "id" else kind.__name__
            held = names.property_of(kind.__name__, part.field)
            yield Entrance(
                text=f"MATCH (n:{names.NODE}:{kind.__name__}) USING INDEX SEEK n:{label}(`{held}`)",
                condition=compiler.where(part),
                parameters=compiler.parameters,
            )


def _is_fixed(part: Where) -> TypeGuard[Eq]:
    return isinstance(part, Eq) and part.value is not None


def _is_indexed(kind: type[Node], part: Eq | In) -> bool:
    if isinstance(part, Eq) and part.value is None:
        return False
    return part.field in ("id", "pool") or names.field_of(kind, part.field).indexed
