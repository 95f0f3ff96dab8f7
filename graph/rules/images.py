"""Images: what an audit record keeps of its target before and after a change.

An image is a JSON object of the fields that the change touched; None says that the target was not live (not made
yet, deleted, retracted). A record with two images is an *edit* and touches the fields they name; a record with one
image is a *birth* (no `before`) or a *death* (no `after`) and touches the whole target. Images hold content and
places, never versions or ids of versions made by the change: a restore makes new versions. Keys are those of the
GraphQL API; times are RFC 3339 in UTC with milliseconds; lists whose order means nothing are sorted.

| Operation | Target | before | after |
|---|---|---|---|
| entry.create | entry | None | `whole_entry` (its own blocks and, if made with it, relations) |
| entry.delete | entry | `whole_entry` with all live blocks and current relations | None |
| entry.rename | entry | `name_fields` + `aliases_fields` | same |
| entry.set_type | entry | `{type}` | same |
| entry.set_summary | entry | `summary_fields` | same |
| entry.set_aliases | entry | `aliases_fields` | same |
| entry.set_attributes | entry | `attribute_fields` of the touched keys, None where unset; their `past_fields` | same |
| entry.mark_distinct | entry | `distinct_fields` (of the entry with the lesser id) | same |
| block.create | block | None | `block_image` |
| block.edit | block | `block_image` without its place | same |
| block.move | block | `block_place` | same |
| block.delete | block | `block_image` | None |
| relation.add | relation | None | `relation_image` |
| relation.add_evidence | relation | `evidence_fields` | same |
| relation.remove, ended | relation | `validity_fields` + `evidence_fields` | same |
| relation.remove, retracted | relation | `relation_image` | None |
| memo.write | memo | `memo_image` | same (before is None for the first) |
| lesson.add, .edit, .delete | lesson | None / `lesson_image` / `lesson_image` | `lesson_image` / same / None |
| guide.write | guide | `guide_image` | same (before is None for the first) |
| mirror.sync, mirror.withdraw | mirror entry | `mirror_image` | same |
| source.withdraw, source.return | source | `source_image` | same |
| source.erase | source | None | `erase_image` (ids alone) |
| access.read | knowledge base | None | None |
| restore | as the restored record | the present value | the restored record's `before` |

When `createEntry` makes blocks, they are part of the `entry.create` image and get no record of their own; a block
added later has one. An entry is undone whole or not at all (`graph.rules.restore`). Source: KN-83, KN-84.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graph.model.fields import Json
from graph.model.time import Millis, render
from graph.rules.canonical import canonical_json

Image = dict[str, Json]
"""The touched fields of a target; treated as frozen."""

BLOCKS = "blocks"
RELATIONS = "relations"
ATTRIBUTE_PREFIX = "attributes."
PAST_PREFIX = "pastAttributes."
PLACE_KEYS = ("entryId", "position")


def citation(
    source_id: str,
    quote: str,
    *,
    start: int,
    end: int,
    role: str = "supports",
    speaker_id: str | None = None,
    said_at: Millis | None = None,
) -> Image:
    """Return one CITES edge; `start` and `end` are offsets in code points."""
    return {
        "sourceId": source_id,
        "quote": quote,
        "start": start,
        "end": end,
        "role": role,
        "speakerId": speaker_id,
        "saidAt": _time(said_at),
    }


def support(citations: Iterable[Image] = (), derived_from: Iterable[str] = ()) -> Image:
    """Return what a statement rests on: citations, and ids of statements it is derived from."""
    return {"citations": _sorted_citations(citations), "derivedFrom": sorted(derived_from)}


def validity_fields(
    *,
    valid_from: Millis | None = None,
    valid_to: Millis | None = None,
    from_precision: str | None = None,
    to_precision: str | None = None,
) -> Image:
    """Return when a statement holds in the world (KN-73, KN-74)."""
    return {
        "validFrom": _time(valid_from),
        "validTo": _time(valid_to),
        "fromPrecision": from_precision,
        "toPrecision": to_precision,
    }


def block_place(*, entry_id: str, position: int) -> Image:
    """Return where a block is. Positions must not shift when a neighbour comes or goes."""
    return {"entryId": entry_id, "position": position}


def block_image(
    text: str,
    *,
    basis: str,
    standing: str,
    authority: str | None = None,
    condition: str | None = None,
    conclusion: str | None = None,
    inferred_at: Millis | None = None,
    validity: Image | None = None,
    rests_on: Image | None = None,
    place: Image | None = None,
) -> Image:
    """Return the content of a block; with `place` (of `block_place`) the whole block."""
    return {
        "text": text,
        "basis": basis,
        "standing": standing,
        "authority": authority,
        "condition": condition,
        "conclusion": conclusion,
        "inferredAt": _time(inferred_at),
        **(validity or validity_fields()),
        **(rests_on or support()),
        **(place or {}),
    }


def name_fields(name: str, rests_on: Image | None = None) -> Image:
    """Return an entry's name and what it rests on."""
    return {"name": name, "nameSupport": rests_on or support()}


def aliases_fields(aliases: Sequence[tuple[str, Image]]) -> Image:
    """Return all aliases of an entry in their order, each with what it rests on (of `support`)."""
    return {"aliases": [{"alias": alias, **rests_on} for alias, rests_on in aliases]}


def summary_fields(summary: str, from_blocks: Iterable[str] = ()) -> Image:
    """Return an entry's summary and the block versions it was made from."""
    return {"summary": summary, "summaryFrom": sorted(from_blocks)}


def attribute_value(value: Json, *, validity: Image | None = None, rests_on: Image | None = None) -> Image:
    """Return one value of an attribute."""
    return {"value": value, **(validity or validity_fields()), **(rests_on or support())}


def attribute_fields(values: Mapping[str, Image | None]) -> Image:
    """Return attributes as fields of their entry, one a key, so that changes of different keys do not meet.

    >>> attribute_fields({"founded": None})
    {'attributes.founded': None}
    """
    return {f"{ATTRIBUTE_PREFIX}{key}": value for key, value in values.items()}


def past_fields(values: Mapping[str, Iterable[Image]]) -> Image:
    """Return the values that keys had before and that are believed still, such as a former place of work.

    >>> past_fields({"founded": []})
    {'pastAttributes.founded': None}
    """
    return {f"{PAST_PREFIX}{key}": _sorted(past) or None for key, past in values.items()}


def distinct_fields(entry_ids: Iterable[str]) -> Image:
    """Return the entries that this one is marked distinct from; of two entries that with the lesser id has the mark."""
    return {"distinctFrom": sorted(entry_ids)}


def entry_fields(
    *,
    name: Image,
    type: str,
    aliases: Image | None = None,
    summary: Image | None = None,
    attributes: Mapping[str, Image | None] | None = None,
    past: Mapping[str, Iterable[Image]] | None = None,
    distinct_from: Iterable[str] = (),
    same_as: Iterable[str] = (),
    principal_id: str | None = None,
) -> Image:
    """Return all fields of an entry itself; `name`, `aliases` and `summary` are those of `…_fields`."""
    return {
        **name,
        "type": type,
        **(aliases or aliases_fields(())),
        **(summary or summary_fields("")),
        **attribute_fields(attributes or {}),
        **past_fields(past or {}),
        **distinct_fields(distinct_from),
        "sameAs": sorted(same_as),
        "principalId": principal_id,
    }


def whole_entry(
    fields: Image, *, blocks: Mapping[str, Image] | None = None, relations: Mapping[str, Image] | None = None
) -> Image:
    """Return an entry with its live blocks and current relations, each by id."""
    return {**fields, BLOCKS: dict(blocks or {}), RELATIONS: dict(relations or {})}


def is_whole(image: Image | None) -> bool:
    """Tell whether an image is one of `whole_entry`."""
    return image is not None and BLOCKS in image


def parts(target_id: str, image: Image | None) -> dict[str, Image | None]:
    """Return every object that an image speaks of with its own fields: one, or a whole entry's many."""
    if image is None or not is_whole(image):
        return {target_id: image}
    own = {key: value for key, value in image.items() if key not in (BLOCKS, RELATIONS)}
    return {target_id: own, **image[BLOCKS], **image[RELATIONS]}


def relation_image(
    *,
    subject_id: str,
    type: str,
    object_id: str,
    attributes: Json = None,
    validity: Image | None = None,
    evidence: Iterable[Image] = (),
) -> Image:
    """Return a relation whole."""
    return {
        "subjectId": subject_id,
        "type": type,
        "objectId": object_id,
        "attributes": attributes,
        **(validity or validity_fields()),
        **evidence_fields(evidence),
    }


def evidence_fields(evidence: Iterable[Image]) -> Image:
    """Return the citations behind a relation."""
    return {"evidence": _sorted_citations(evidence)}


def memo_image(lines: Sequence[tuple[str, Image]]) -> Image:
    """Return a resident memo: its lines in order, each with what it rests on."""
    return {"lines": [{"text": text, **rests_on} for text, rests_on in lines]}


def lesson_image(text: str, *, overlay_id: str, origin: str, rests_on: Image | None = None) -> Image:
    """Return a lesson of a Skill Overlay."""
    return {"text": text, "overlayId": overlay_id, "origin": origin, **(rests_on or support())}


def guide_image(text: str) -> Image:
    """Return the text of a Curation Guide."""
    return {"text": text}


def mirror_image(*, state: str, source_id: str, source_version: str | None = None) -> Image:
    """Return what a mirror entry shows: ids and codes, no content."""
    return {"state": state, "sourceId": source_id, "sourceVersion": source_version}


def source_image(state: str) -> Image:
    """Return the state of a source."""
    return {"state": state}


def erase_image(source_ids: Iterable[str]) -> Image:
    """Return which versions of a source were erased; the offline verifier explains blank images by it."""
    return {"sourceIds": sorted(source_ids)}


def without_nulls(value: Json) -> Json:
    """Return a value in which a missing field and a null one are the same."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [without_nulls(item) for item in value]
    return value


def same_image(one: Image | None, other: Image | None) -> bool:
    """Tell whether two images say the same, as JSON: 1 equals 1.0, true does not equal 1."""
    if one is None or other is None:
        return one is other
    return canonical_json(without_nulls(one)) == canonical_json(without_nulls(other))


def _sorted_citations(items: Iterable[Image]) -> list[Json]:
    """Return citations in the order of their canonical JSON, which begins with `end`; most differ in that."""
    found = [dict(item) for item in items]
    ends = {f"{item['end']}," for item in found}
    return sorted(found, key=lambda item: f"{item['end']},") if len(ends) == len(found) else _sorted(found)


def _sorted(items: Iterable[Mapping[str, Any]]) -> list[Json]:
    return sorted((dict(item) for item in items), key=canonical_json)


def _time(value: Millis | None) -> str | None:
    return None if value is None else render(value)
