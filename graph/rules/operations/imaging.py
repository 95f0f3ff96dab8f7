"""Images of the present for audit records, from the working copy. Shapes: the table in `graph.rules.images`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graph.model.ids import NodeId
from graph.rules import images
from graph.rules.images import Image
from graph.rules.operations.state import (
    AttributeState,
    BlockState,
    Cited,
    EntryState,
    FacetState,
    RelationState,
    Support,
)


def citation(cited: Cited) -> Image:
    """Return the image of one citation."""
    return images.citation(
        cited.source,
        cited.quote,
        start=cited.start,
        end=cited.end,
        role=cited.role,
        speaker_id=cited.speaker_id,
        said_at=cited.said_at,
    )


def support(rests_on: Support) -> Image:
    """Return the image of what a statement rests on."""
    return images.support((citation(cited) for cited in rests_on.citations), rests_on.derived_from)


def block(state: BlockState, *, placed: bool) -> Image:
    """Return the image of a block, with its place if `placed`."""
    version = state.version
    place = images.block_place(entry_id=state.entry_id, position=state.block.position)
    return images.block_image(
        version.text,
        basis=version.basis,
        standing=version.standing,
        authority=version.authority,
        condition=version.condition,
        conclusion=version.conclusion,
        inferred_at=version.inferred_at,
        validity=images.validity_fields(
            valid_from=version.valid_from,
            valid_to=version.valid_to,
            from_precision=version.from_precision,
            to_precision=version.to_precision,
        ),
        rests_on=support(state.rests_on),
        place=place if placed else None,
    )


def place(state: BlockState) -> Image:
    """Return the image of where a block is."""
    return images.block_place(entry_id=state.entry_id, position=state.block.position)


def aliases(facets: Iterable[FacetState]) -> Image:
    """Return the image of all aliases of an entry."""
    return images.aliases_fields([(state.facet.value, support(state.rests_on)) for state in facets])


def name(state: FacetState) -> Image:
    """Return the image of a name."""
    return images.name_fields(state.facet.value, support(state.rests_on))


def summary(state: FacetState | None) -> Image:
    """Return the image of a summary."""
    if state is None:
        return images.summary_fields("")
    return images.summary_fields(state.facet.value, state.rests_on.derived_from)


def attribute(state: AttributeState) -> Image:
    """Return the image of one attribute value."""
    value = state.attribute
    return images.attribute_value(
        list(value.value) if isinstance(value.value, tuple) else value.value,
        validity=images.validity_fields(
            valid_from=value.valid_from,
            valid_to=value.valid_to,
            from_precision=value.from_precision,
            to_precision=value.to_precision,
        ),
        rests_on=support(state.rests_on),
    )


def attributes(entry: EntryState, keys: Iterable[str]) -> Image:
    """Return the image of some attributes; a key without value is None, and so is one without past values."""
    present, wanted = entry.attributes, sorted(keys)
    values = images.attribute_fields({key: attribute(present[key]) if key in present else None for key in wanted})
    return {**values, **images.past_fields({key: past(entry).get(key, ()) for key in wanted})}


def past(entry: EntryState) -> dict[str, list[Image]]:
    """Return the images of the values that keys had before, of keys that have some."""
    found: dict[str, list[Image]] = {}
    for state in entry.closed_attributes:
        found.setdefault(state.attribute.key, []).append(attribute(state))
    return found


def marked_by(state: EntryState) -> list[NodeId]:
    """Return the entries that this one is marked distinct from by a mark of its own: those with greater ids.

    The other half of a mark has no image, so that undoing a change of one entry never changes another one.
    """
    return [other for other in state.distinct_from if other > state.id]


def entry(state: EntryState) -> Image:
    """Return the image of all fields of an entry itself."""
    return images.entry_fields(
        name=name(state.name),
        type=state.entry.type,
        aliases=aliases(state.aliases),
        summary=summary(state.summary),
        attributes={key: attribute(value) for key, value in state.attributes.items()},
        past=past(state),
        distinct_from=marked_by(state),
        same_as=state.same_as,
        principal_id=state.entry.principal_id,
    )


def whole_entry(state: EntryState, blocks: Sequence[BlockState] = (), relations: Sequence[RelationState] = ()) -> Image:
    """Return the image of an entry with its blocks and relations."""
    return images.whole_entry(
        entry(state),
        blocks={found.id: block(found, placed=True) for found in blocks},
        relations={found.id: relation(found) for found in relations},
    )


def validity(state: RelationState) -> Image:
    """Return the image of when a relation holds."""
    version = state.version
    return images.validity_fields(
        valid_from=version.valid_from,
        valid_to=version.valid_to,
        from_precision=version.from_precision,
        to_precision=version.to_precision,
    )


def evidence(state: RelationState) -> Image:
    """Return the image of the citations behind a relation."""
    return images.evidence_fields(citation(cited) for cited in state.evidence)


def relation(state: RelationState) -> Image:
    """Return the image of a relation."""
    return images.relation_image(
        subject_id=state.relation.subject_id,
        type=state.relation.type,
        object_id=state.relation.object_id,
        attributes=state.version.attributes,
        validity=validity(state),
        evidence=(citation(cited) for cited in state.evidence),
    )


def supports_of_entry(
    state: EntryState, blocks: Sequence[BlockState] = (), relations: Sequence[RelationState] = ()
) -> list[Support]:
    """Return everything that the parts of a whole entry rest on."""
    facets = [*state.facets, *([state.summary] if state.summary else [])]
    found = [facet.rests_on for facet in facets]
    found += [value.rests_on for value in state.values]
    found += [found_block.rests_on for found_block in blocks]
    return found + [Support(citations=found_relation.evidence) for found_relation in relations]
