"""Names and the form of an operation list."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from dreaming.curation.answer import operation_list
from dreaming.curation.names import Names
from dreaming.curation.quoting import as_text, fitted
from graph.model.ids import NodeId
from graph.text.tokens import DEFAULT_TOKENIZER


def names() -> Names:
    made = Names()
    for id_ in ("src_a", "ent_b", "blk_c"):
        made.of(NodeId(id_))
    return made


def test_names_lead_back_and_what_is_no_name_stays() -> None:
    made = names()
    assert [made.id_of(name) for name in ("s1", "e1", "b1", "s2", "new1", "src_a")] == [
        "src_a",
        "ent_b",
        "blk_c",
        "s2",
        "new1",
        "src_a",
    ]
    assert made.of(NodeId("src_a")) == "s1"
    assert ("s1" in made, "src_a" in made) == (True, False)


@pytest.mark.req("DR-42")
def test_list_that_is_too_long_or_whose_ref_is_a_shown_name_is_invalid() -> None:
    shape = operation_list(names(), 2)
    fine = {"operations": [{"op": "createEntry", "ref": "new1"}, {"op": "dance"}]}
    assert len(shape.model_validate(fine).operations) == 2
    wrong_ones: list[dict[str, Any]] = [
        {"operations": [{}, {}, {}]},
        {"operations": [{"op": "createEntry", "ref": "e1"}]},
        {"operations": ["no object"]},
        {"operations": [], "note": "and a word"},
        {},
    ]
    for wrong in wrong_ones:
        with pytest.raises(ValidationError):
            shape.model_validate(wrong)


def test_long_text_is_shortened_until_its_line_fits() -> None:
    line = {"id": "s1", "text": 'He said "no" ' * 200}
    short = fitted(line, DEFAULT_TOKENIZER, 60)
    assert DEFAULT_TOKENIZER.count(short) <= 60
    assert '"shortened": true' in short
    assert fitted({"id": "s1", "text": "hello"}, DEFAULT_TOKENIZER, 60) == '{"id": "s1", "text": "hello"}'


def test_what_says_nothing_is_left_out_of_a_line() -> None:
    assert as_text({"id": "e1", "version": 0, "aliases": [], "summary": None, "stale": True}) == (
        '{"id": "e1", "version": 0, "stale": true}'
    )
