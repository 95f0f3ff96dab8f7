import re

from graph.model import schema as model
from graph.store.neo4j import names, schema


def test_each_rule_has_a_name_of_its_own_and_no_two_are_the_same() -> None:
    rules = schema.rules()
    assert len({rule.name for rule in rules}) == len(rules)
    assert len({(rule.label, rule.properties) for rule in rules}) == len(rules)


def test_every_unique_key_of_the_model_is_a_constraint() -> None:
    made = {(rule.label, rule.properties) for rule in schema.rules() if rule.kind == "UNIQUE"}
    for kind, spec in model.kinds().items():
        for key in spec.unique:
            assert (kind, tuple(names.property_of(kind, name) for name in key)) in made


def test_every_indexed_field_has_an_index_that_begins_with_it() -> None:
    first = {(rule.label, rule.properties[0]) for rule in schema.rules()}
    for kind, spec in model.kinds().items():
        for field in spec.fields:
            if field.indexed:
                assert (kind, names.property_of(kind, field.name)) in first


def test_statements_can_be_run_again() -> None:
    assert all(" IF NOT EXISTS " in rule.statement for rule in schema.rules())


def test_statements_name_only_plain_identifiers() -> None:
    for rule in schema.rules():
        assert re.fullmatch(r"\w+", rule.name)
        assert re.fullmatch(r"\w+", rule.label)
