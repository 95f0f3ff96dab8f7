"""The front matter of a Curation Guide."""

from __future__ import annotations

import pytest

from graph.model.errors import BadInput
from graph.rules.guide import limits_of, parse_guide


@pytest.mark.req("KN-107")
def test_front_matter_may_name_types_and_the_evidence_that_an_entry_needs() -> None:
    found = parse_guide("---\r\ntypes:\r\n  - vendor\r\n  - machine_part\r\nminEvidence: 3\r\n---\r\n# Guide")
    assert found.types == {"vendor", "machine_part"}
    assert found.min_evidence == 3


@pytest.mark.req("KN-107")
@pytest.mark.parametrize("text", ["", "# Guide\n---\ntypes: 3\n---", "---\n---\nText", "---\n# nothing\n---\n"])
def test_a_guide_without_front_matter_enforces_nothing(text: str) -> None:
    assert (parse_guide(text).types, parse_guide(text).min_evidence) == (frozenset(), 1)


@pytest.mark.req("KN-107", "CO-33")
@pytest.mark.parametrize(
    ("front", "line"),
    [
        ("types: [vendor\nminEvidence: 1", 3),
        ("minEvidence: 0", 2),
        ("types: []\nminEvidence: 11", 3),
        ("minEvidence: true", 2),
        ("minEvidence: '2'", 2),
        ("types: vendor", 2),
        ("types: [Vendor]", 2),
        ("types: [1]", 2),
        ("types: []\nscope: shared", 3),
        ("- vendor", 2),
        ("!!python/object:os.system {}", 2),
    ],
)
def test_malformed_front_matter_is_told_by_its_line(front: str, line: int) -> None:
    with pytest.raises(BadInput) as caught:
        parse_guide(f"---\n{front}\n---\n# Guide")
    assert caught.value.details["line"] == line


@pytest.mark.req("KN-107")
def test_front_matter_is_closed() -> None:
    with pytest.raises(BadInput, match="line 1"):
        parse_guide("---\ntypes: [vendor]\n")


@pytest.mark.req("KN-107")
def test_a_guide_has_at_most_8000_characters() -> None:
    assert parse_guide("g" * 8_000).min_evidence == 1
    with pytest.raises(BadInput):
        parse_guide("g" * 8_001)


def test_a_stored_guide_that_cannot_be_read_enforces_nothing() -> None:
    assert limits_of("---\nminEvidence: 99\n---").min_evidence == 1
