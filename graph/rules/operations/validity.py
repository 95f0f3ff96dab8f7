"""When a statement holds, as an operation says it. Source: KN-73, KN-74, DR-69."""

from __future__ import annotations

from graph.model.nodes.knowledge import Precision
from graph.model.time import Millis
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


def closing(validity: Validity, rests_on: Support) -> tuple[Millis | None, str | None]:
    """Return when a new state begins: as it is given, else when its newest citation was said, to the day."""
    if validity.valid_from is not None:
        return validity.valid_from, validity.from_precision
    said = [cited.said_at for cited in rests_on.citations if cited.said_at is not None]
    return (max(said), Precision.DAY) if said else (None, None)
