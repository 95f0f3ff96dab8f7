import pytest

from graph.model import schema
from graph.model.nodes.evidence import Episode, Source, SourceKind
from graph.model.nodes.knowledge import Entry, KnowledgeBase
from graph.store.neo4j import encoding, names

STORE_OWN = {"lock", "embeddingBytes", "audClauses", "audExcluded", "audTags", "audSort"}
OF_RECEIPTS = {"attempt"}
"""What the store keeps on receipts of transactions alone."""


@pytest.mark.req("KN-10")
def test_labels_are_class_names_and_a_source_also_has_that_of_its_kind() -> None:
    assert names.labels_of(schema.kinds()["Entry"]) == ("Entry",)
    assert names.labels_of(schema.kinds()["KnowledgeBase"]) == ("KnowledgeBase", "Scope")
    assert names.labels_of(schema.kinds()["Source"], "url") == ("Source", "WebPage")
    assert set(names.SOURCE_LABELS) == {kind.value for kind in SourceKind}


@pytest.mark.req("KN-10")
@pytest.mark.parametrize(
    ("kind", "field", "expected"),
    [
        (Entry, "live_name", "liveName"),
        (Entry, "pool", "kbId"),
        (KnowledgeBase, "workspace", "workspaceId"),
        (Episode, "from_at", "from"),
        (Source, "content_hash", "contentHash"),
    ],
)
def test_properties_have_the_names_of_the_contract(kind: type, field: str, expected: str) -> None:
    assert names.property_of(kind.__name__, field) == expected


def test_no_two_fields_share_a_property_and_none_takes_one_of_the_stores_own() -> None:
    for kind, spec in schema.kinds().items():
        properties = [names.property_of(kind, field.name) for field in spec.fields]
        assert len(set(properties)) == len(properties)
        assert not (STORE_OWN | (OF_RECEIPTS if kind == "Receipt" else set())) & set(properties)
        assert not any(name.startswith("guard") for name in properties)


def test_labels_of_the_store_are_no_kinds() -> None:
    own = {"Node", "Placeholder", "Aud", "AudSeveral", "Clause", "Counter", "Meta", "Text", "Gate"}
    assert not own & set(names.all_labels())


@pytest.mark.parametrize("name", ["quote", "said_at", "a1_b2"])
def test_a_regular_name_survives_camel_case(name: str) -> None:
    assert names.survives_camel(name)
    assert names.snake(names.camel(name)) == name


@pytest.mark.parametrize("name", ["saidAt", "_x", "a__b", "a_1", "Ä", "", "a`b", "x_"])
def test_any_other_name_is_told_apart(name: str) -> None:
    assert not names.survives_camel(name)


def test_an_undeclared_field_never_becomes_part_of_a_statement() -> None:
    with pytest.raises(TypeError):
        names.reference(Entry, "x`) DETACH DELETE n //")


def test_columns_begin_with_the_id() -> None:
    for kind in schema.kinds():
        assert encoding.columns(kind).startswith("[n.`id`, ")
