"""Embedding models that run here: how they come into the folder, that they are whole, and what their vectors say."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from dreaming.models.embedding_local import local_embedder
from dreaming.models.embedding_making import Embedders
from dreaming.models.local_models import (
    KNOWN,
    MODEL_FILE,
    TOKENIZER_FILE,
    ModelForm,
    ModelState,
    Pooling,
    fetch,
    form_of,
    names_in,
    sha256_of,
    state_of,
)
from graph.model.errors import BadInput, ModelUnavailable, ProfileUnavailable
from graph.ports import EmbeddingChoice
from tests.support.local_models import folder_with

E5, BGE = "e5-small-v2", "bge-small-zh-v1.5"


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True)) / math.hypot(*one) / math.hypot(*other)


async def nearest(name: str, question: str, texts: Sequence[str]) -> str:
    """Return the text whose vector is nearest to that of the question."""
    model = local_embedder(folder_with(name), name)
    (asked,) = await model.embed([question], query=True)
    vectors = await model.embed(texts, query=False)
    return max(zip(texts, vectors, strict=True), key=lambda pair: cosine(asked, pair[1]))[0]


@pytest.mark.req("RE-32")
async def test_e5_knows_what_means_the_same() -> None:
    texts = ["Ana: The ferry was late again.", "Ben: My dog had puppies.", "Ana: I paid the invoice yesterday."]
    assert await nearest(E5, "Who settled the bill?", texts) == texts[2]
    assert await nearest(E5, "What pets are there?", texts) == texts[1]


@pytest.mark.req("RE-32")
async def test_bge_knows_what_means_the_same_in_chinese() -> None:
    texts = ["小王：我养了一只小狗。", "小李：昨天我把账单付了。", "小王：船又晚点了。"]
    assert await nearest(BGE, "谁交了钱？", texts) == texts[1]
    assert await nearest(BGE, "家里有什么宠物？", texts) == texts[0]


async def test_vectors_have_length_one_and_do_not_depend_on_their_neighbours() -> None:
    model = local_embedder(folder_with(E5), E5)
    texts = ["short", "a much longer text " * 5, "", "x" * 300]
    together = await model.embed(texts, query=False)
    assert {len(vector) for vector in together} == {KNOWN[E5].size}
    assert [math.hypot(*vector) for vector in together] == pytest.approx([1.0] * 4, abs=1e-5)
    (alone,) = await model.embed(texts[:1], query=False)
    assert cosine(alone, together[0]) > 0.99
    (asked,) = await model.embed(texts[:1], query=True)
    assert cosine(asked, alone) < 0.999  # questions and texts are told apart
    assert await model.embed([], query=True) == []


async def test_the_maker_takes_models_from_its_folder(tmp_path: Path) -> None:
    made = Embedders(folder=folder_with(E5), credentials=lambda name: None)
    choice = EmbeddingChoice(provider="local", model=E5)
    assert made(choice) is made(choice)
    for name in ("nope", "", "../" + E5, "/etc"):
        with pytest.raises(ProfileUnavailable) as told:
            Embedders(folder=tmp_path, credentials=lambda name: None)(EmbeddingChoice(provider="local", model=name))
        assert told.value.details["reason"] == "model_missing"


async def test_a_damaged_model_answers_nothing(tmp_path: Path) -> None:
    place = tmp_path / "mine"
    place.mkdir()
    (place / MODEL_FILE).write_bytes(b"no model")
    (place / TOKENIZER_FILE).write_bytes(b"{}")
    assert state_of(tmp_path, "mine") is ModelState.DAMAGED  # it does not say how it is asked
    (place / "model.json").write_text(ModelForm(pooling=Pooling.FIRST).model_dump_json(), encoding="utf-8")
    assert state_of(tmp_path, "mine") is ModelState.WHOLE  # nobody knows its sums
    assert names_in(tmp_path) == [BGE, E5, "mine"]
    with pytest.raises(ModelUnavailable):
        await local_embedder(tmp_path, "mine").embed(["one"], query=False)


def test_a_model_comes_from_a_folder_an_archive_or_a_repository(tmp_path: Path) -> None:
    origin = folder_with(BGE) / BGE
    assert fetch(tmp_path / "a", BGE, str(origin)) == tmp_path / "a" / BGE
    archive = tmp_path / "model.jar"
    with zipfile.ZipFile(archive, "w") as packed:
        for file, (name, _) in KNOWN[BGE].files.items():
            packed.write(origin / file, name)
    fetch(tmp_path / "b", BGE, str(archive))
    for folder in ("a", "b"):
        assert state_of(tmp_path / folder, BGE) is ModelState.WHOLE
        assert form_of(tmp_path / folder, BGE).pooling is Pooling.FIRST
    fetch(tmp_path / "b", BGE, "/nowhere")  # whole already: nothing is fetched


def test_what_is_not_the_model_is_not_kept(tmp_path: Path) -> None:
    false = tmp_path / "false"
    false.mkdir()
    for file in KNOWN[E5].files:
        (false / file).write_bytes(b"something else")
    with pytest.raises(ProfileUnavailable) as told:
        fetch(tmp_path / "models", E5, str(false))
    assert told.value.details["reason"] == "model_damaged"
    assert state_of(tmp_path / "models", E5) is ModelState.MISSING
    assert list((tmp_path / "models").iterdir()) == []
    for origin in (str(tmp_path / "none.jar"), str(tmp_path), "http://127.0.0.1:9/maven"):
        with pytest.raises(ProfileUnavailable):
            fetch(tmp_path / "models", E5, origin)
    with pytest.raises(BadInput):
        fetch(tmp_path / "models", "nope")


def test_without_maven_one_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dreaming.models.local_models.shutil.which", lambda name: None)
    with pytest.raises(ProfileUnavailable, match="--from"):
        fetch(tmp_path, E5)


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    place = fetch(tmp_path, BGE, str(folder_with(BGE) / BGE))
    before = sha256_of(place / TOKENIZER_FILE)
    (place / TOKENIZER_FILE).write_bytes(b"{}")
    assert sha256_of(place / TOKENIZER_FILE) != before
    assert state_of(tmp_path, BGE) is ModelState.DAMAGED
