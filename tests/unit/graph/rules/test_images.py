"""Images: what a record keeps, and when two say the same."""

from __future__ import annotations

import pytest

from graph.model.time import Millis
from graph.rules import images
from graph.rules.canonical import canonical_json


@pytest.mark.req("KN-83")
def test_block_image_holds_content_place_time_and_sources() -> None:
    quote = images.citation("src_1", "went vegetarian", start=2, end=17, speaker_id="prn_lin", said_at=Millis(0))
    image = images.block_image(
        "Vegetarian",
        basis="stated",
        standing="settled",
        validity=images.validity_fields(valid_from=Millis(1_743_465_600_000), from_precision="month"),
        rests_on=images.support([quote], ["blv_2", "blv_1"]),
        place=images.block_place(entry_id="ent_1", position=3),
    )
    assert image["validFrom"] == "2025-04-01T00:00:00.000Z"
    assert image["citations"][0]["saidAt"] == "1970-01-01T00:00:00.000Z"
    assert image["derivedFrom"] == ["blv_1", "blv_2"]
    assert (image["entryId"], image["position"]) == ("ent_1", 3)
    canonical_json(image)


def test_order_of_citations_means_nothing_and_order_of_aliases_does() -> None:
    first, second = (images.citation("src_1", text, start=0, end=4) for text in ("here", "gone"))
    assert images.support([first, second]) == images.support([second, first])
    assert images.evidence_fields([first, second]) == images.evidence_fields([second, first])
    one, two = ("Lin", images.support()), ("林", images.support())
    assert not images.same_image(images.aliases_fields([one, two]), images.aliases_fields([two, one]))


def test_images_are_compared_as_json() -> None:
    assert images.same_image({"a": 1, "b": None}, {"a": 1.0})
    assert not images.same_image({"a": 1}, {"a": True})
    assert not images.same_image({}, None)
    assert images.same_image(None, None)


def test_a_whole_entry_comes_apart_into_its_objects() -> None:
    fields = images.entry_fields(
        name=images.name_fields("Helio"),
        type="organization",
        attributes={"founded": images.attribute_value(1999)},
        distinct_from=["ent_9"],
    )
    block = images.block_image("x", basis="stated", standing="settled")
    relation = images.relation_image(subject_id="ent_1", type="knows", object_id="ent_2")
    whole = images.whole_entry(fields, blocks={"blk_1": block}, relations={"rel_1": relation})
    assert images.parts("ent_1", whole) == {"ent_1": fields, "blk_1": block, "rel_1": relation}
    assert images.parts("ent_1", None) == {"ent_1": None}
    assert images.parts("blk_1", block) == {"blk_1": block}
    assert fields["attributes.founded"]["value"] == 1999


@pytest.mark.parametrize("ends", [(12, 123, 9), (7, 7, 70), (100, 20, 3)])
def test_citations_are_in_the_order_of_their_canonical_json(ends: tuple[int, ...]) -> None:
    cited = [images.citation(f"src_{n}", 'a "quote"', start=n, end=end) for n, end in enumerate(ends)]
    assert images.support(cited)["citations"] == sorted(cited, key=canonical_json)
    assert images.support(reversed(cited)) == images.support(cited)
