"""What is embedded, under which names, and what waits."""

from __future__ import annotations

from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.ports import EmbeddingChoice
from graph.rules import embedding as rules
from graph.rules.ingest import Window
from graph.rules.knowledge_settings import with_values
from tests.support.builders import World

WORLD = World()
MAY_7 = Millis(1_683_460_800_000)


@pytest.mark.req("RE-32")
def test_a_message_names_speaker_and_day() -> None:
    said = WORLD.make_source(text="Hi.", speaker="Ana", occurred_at=MAY_7)
    nobody = WORLD.make_source(text="Ho.", speaker="", occurred_at=MAY_7)
    assert rules.message_text(said) == "Ana (7 May 2023): Hi."
    assert rules.window_text(Window(before=nobody, center=said, after=None)) == (
        "someone (7 May 2023): Ho.\nAna (7 May 2023): Hi."
    )


def test_a_long_text_is_cut() -> None:
    assert len(rules.block_text("Name", "x" * 100_000)) == rules.MAX_CHARACTERS


def test_the_settings_name_an_embedder_only_together() -> None:
    assert rules.choice_of(with_values({})) is None
    assert rules.choice_of(with_values({"embedding.provider": "openai"})) is None
    assert rules.choice_of(with_values({"embedding.model": "small"})) is None
    both = {"embedding.provider": "openai", "embedding.model": "small", "embedding.dimensions": 256}
    assert rules.choice_of(with_values(both)) == EmbeddingChoice(provider="openai", model="small", dimensions=256)


def test_what_the_model_refused_or_was_erased_does_not_wait() -> None:
    assert rules.to_be_embedded(["new", "!new", "!old", "old", "-"], "new") == ["", "!old", "old"]


def test_vectors_of_a_message_are_named_after_it() -> None:
    source = NodeId("src_a/b_c")
    vectors = {rules.message_vector_id(source), rules.window_vector_id(source)}
    assert len(vectors) == 2
    assert {rules.source_of(vector) for vector in vectors} == {source}


@pytest.mark.parametrize("vector", [[], [0.0, 0.0], [float("nan"), 1.0], [float("inf")]])
def test_a_vector_without_direction_is_of_no_use(vector: list[float]) -> None:
    assert not rules.is_usable(vector)


@pytest.mark.parametrize("vector", [[None, 1.0], ["1.0"], [[1.0]], [10**400]])
def test_a_vector_of_what_is_no_number_is_of_no_use_either(vector: list[Any]) -> None:
    assert not rules.is_usable(vector)


def test_a_vector_is_kept_in_single_precision() -> None:
    assert rules.size_of(rules.to_bytes([1.0, 2.0, 3.0])) == 3
