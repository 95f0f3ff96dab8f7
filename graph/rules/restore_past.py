"""What a restore knows beside the present: the ended parts of the objects that it brings back, and images as content.

An image holds content and places alone, so a returning name takes up the evidence that its last life had gathered
since. Source: KN-101, KN-102.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Block, BlockVersion, CurationGuide, Entry, EntryVersion, FacetField, Relation
from graph.model.nodes.knowledge import RelationVersion as Version
from graph.model.nodes.learning import Lesson
from graph.model.time import Millis, parse
from graph.rules.images import ATTRIBUTE_PREFIX, PAST_PREFIX, Image, same_image
from graph.rules.operations import imaging
from graph.rules.operations.content import BlockContent, Validity
from graph.rules.operations.state import (
    AttributeState,
    BlockState,
    Cited,
    EntryState,
    FacetState,
    RelationState,
    Support,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryPast:
    """An entry, live or not, with what it once was.

    Attributes:
        version: its last version.
        shown_by: the name facets that it hangs on now.
        facets: every name, alias and summary it ever had, with evidence.
        attributes: every value it ever had, with evidence.
        distinct_from, same_as: where its edges lead now.
    """

    entry: Entry
    version: EntryVersion
    shown_by: tuple[NodeId, ...] = ()
    facets: tuple[FacetState, ...] = ()
    attributes: tuple[AttributeState, ...] = ()
    distinct_from: tuple[NodeId, ...] = ()
    same_as: tuple[NodeId, ...] = ()

    def last_facet(self, kind: FacetField, value: str, image: Image) -> FacetState | None:
        """Return the newest facet of this value whose evidence, as images tell it, is that of `image`."""
        equal = [
            state
            for state in self.facets
            if (state.facet.field, state.facet.value) == (kind, value) and _says(kind, state, image)
        ]
        return max(equal, key=lambda state: (state.facet.recorded_at, state.facet.id), default=None)

    def values_of(self, key: str) -> list[AttributeState]:
        """Return all values that a key ever had."""
        return [state for state in self.attributes if state.attribute.key == key]


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockPast:
    """A block, ended or not, with its last version and the ids of all its versions."""

    block: Block
    version: BlockVersion
    versions: tuple[NodeId, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationPast:
    """A relation, retracted or not, with its last version and all citations that hang on it."""

    relation: Relation
    version: Version
    evidence: tuple[Cited, ...] = ()


@dataclass(kw_only=True, slots=True)
class Past:
    """The objects that a batch speaks of, ended or not; kept up as steps are carried out."""

    entries: dict[NodeId, EntryPast] = field(default_factory=dict)
    blocks: dict[NodeId, BlockPast] = field(default_factory=dict)
    relations: dict[NodeId, RelationPast] = field(default_factory=dict)
    guides: dict[NodeId, CurationGuide] = field(default_factory=dict)
    lessons: dict[NodeId, Lesson] = field(default_factory=dict)

    def note_entry(self, state: EntryState) -> None:
        """Remember what an entry is now, or was when it ended."""
        known = self.entries[state.id]
        summary = [state.summary] if state.summary else []
        facets = _by_id(known.facets, [*state.facets, *summary], lambda s: s.facet.id)
        values = _by_id(known.attributes, state.values, lambda s: s.attribute.id)
        self.entries[state.id] = replace(
            known,
            entry=state.entry,
            version=state.version,
            shown_by=(state.name.facet.id,),
            facets=facets,
            attributes=values,
            distinct_from=state.distinct_from,
            same_as=state.same_as,
        )

    def note_block(self, state: BlockState) -> None:
        """Remember the newest version of a block."""
        known = self.blocks[state.id].versions
        versions = known if state.version.id in known else (*known, state.version.id)
        self.blocks[state.id] = BlockPast(block=state.block, version=state.version, versions=versions)

    def note_relation(self, state: RelationState) -> None:
        """Remember the newest version of a relation."""
        self.relations[state.id] = RelationPast(relation=state.relation, version=state.version, evidence=state.evidence)


def cited_of_image(image: Mapping[str, Any]) -> Cited:
    """Return the citation that an image of one stands for."""
    speaker = image.get("speakerId")
    return Cited(
        source=NodeId(image["sourceId"]),
        quote=image["quote"],
        start=image["start"],
        end=image["end"],
        role=image["role"],
        speaker_id=None if speaker is None else NodeId(speaker),
        said_at=_time(image.get("saidAt")),
    )


def evidence_of(images: Iterable[Mapping[str, Any]]) -> tuple[Cited, ...]:
    """Return the citations of a list of images."""
    return tuple(cited_of_image(image) for image in images)


def support_of_image(image: Mapping[str, Any]) -> Support:
    """Return what a statement rests on, from the fields `citations` and `derivedFrom` of its image."""
    return Support(
        citations=evidence_of(image.get("citations", ())),
        derived_from=tuple(NodeId(basis) for basis in image.get("derivedFrom", ())),
    )


def validity_of_image(image: Mapping[str, Any]) -> Validity:
    """Return when a statement holds, from its image."""
    return Validity(
        valid_from=_time(image.get("validFrom")),
        valid_to=_time(image.get("validTo")),
        from_precision=image.get("fromPrecision"),
        to_precision=image.get("toPrecision"),
    )


def content_of_image(image: Mapping[str, Any]) -> BlockContent:
    """Return what a version of a block says, from its image."""
    return BlockContent(
        text=image["text"],
        basis=image["basis"],
        standing=image["standing"],
        authority=image.get("authority"),
        condition=image.get("condition"),
        conclusion=image.get("conclusion"),
        inferred_at=_time(image.get("inferredAt")),
        validity=validity_of_image(image),
        rests_on=support_of_image(image),
    )


def attributes_of_image(image: Mapping[str, Any]) -> dict[str, Json]:
    """Return the images of attribute values by key; None for a key without value.

    >>> attributes_of_image({"attributes.size": None, "type": "system"})
    {'size': None}
    """
    return _under(ATTRIBUTE_PREFIX, image)


def past_of_image(image: Mapping[str, Any]) -> dict[str, list[Image]]:
    """Return the images of past attribute values by key."""
    return {key: list(values or ()) for key, values in _under(PAST_PREFIX, image).items()}


def _under(prefix: str, image: Mapping[str, Any]) -> dict[str, Any]:
    return {key[len(prefix) :]: value for key, value in image.items() if key.startswith(prefix)}


def _says(kind: FacetField, state: FacetState, image: Image) -> bool:
    if kind is FacetField.SUMMARY:
        return same_image(imaging.summary(state), image)
    return same_image(imaging.support(state.rests_on), image)


def _by_id(known: Iterable[Any], present: Iterable[Any], id_of: Any) -> tuple[Any, ...]:
    return tuple({id_of(state): state for state in (*known, *present)}.values())


def _time(text: str | None) -> Millis | None:
    return None if text is None else parse(text)
