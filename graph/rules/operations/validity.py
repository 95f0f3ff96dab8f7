"""When a statement holds, as an operation says it. Source: KN-73, KN-74, DR-69."""

from __future__ import annotations

from collections.abc import Mapping

from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Precision
from graph.model.time import Millis, clock_reading
from graph.rules.operations.content import Validity
from graph.rules.operations.schema import AddRelation
from graph.rules.operations.schema_parts import AttributeIn, BlockIn
from graph.rules.operations.state import Support
from graph.rules.operations.verdicts import refuse


def validity_of(given: BlockIn | AttributeIn | AddRelation) -> Validity:
    """Return the validity that an operation gives; a date without precision has that of its form.

    Raises:
        OperationRejected: ``SCHEMA_INVALID``: it ends before it begins.
    """
    begin, end = given.validFrom, given.validTo
    if begin is not None and end is not None and end.at <= begin.at:
        raise refuse("SCHEMA_INVALID", "validTo lies after validFrom", field="validTo")
    return Validity(
        valid_from=begin.at if begin else None,
        valid_to=end.at if end else None,
        from_precision=(given.fromPrecision or begin.precision) if begin else None,
        to_precision=(given.toPrecision or end.precision) if end else None,
    )


def closing(
    validity: Validity, rests_on: Support, sources: Mapping[NodeId, Source]
) -> tuple[Millis | None, str | None]:
    """Return when a new state begins: as it is given, else the day on which its newest citation was said.

    Args:
        validity: as it is given.
        rests_on: what the new state cites.
        sources: the cited ones, as far as they are known: the day is that of who said it.
    """
    if validity.valid_from is not None:
        return validity.valid_from, validity.from_precision
    said = [(cited.said_at, cited.source) for cited in rests_on.citations if cited.said_at is not None]
    if not said:
        return None, None
    at, newest = max(said)
    offset = sources[newest].said_offset if newest in sources else None
    return clock_reading(at, offset), Precision.DAY
