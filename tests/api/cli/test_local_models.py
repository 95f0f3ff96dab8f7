"""`rootward models`: list, fetch, check."""

from __future__ import annotations

from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from api.bootstrap import Ports, make_deps, models_folder
from api.cli import exits
from api.cli.given import Chosen, chosen
from api.cli.local_models import check_models, fetch_model, show_models
from api.settings import load
from dreaming.models.embedding_http import HttpReranker
from dreaming.models.embedding_making import Embedders
from graph.model.errors import ProfileUnavailable
from graph.store.memory import MemoryStore
from tests.support.clock import FakeClock
from tests.support.local_models import folder_with

BGE = "bge-small-zh-v1.5"


@dataclass
class Line:
    """The command line on one data directory."""

    data: Path
    printed: StringIO = field(default_factory=StringIO)

    @property
    def out(self) -> Console:
        return Console(file=self.printed, width=200)

    @property
    def chosen(self) -> Chosen:
        return chosen({"ROOTWARD_DATA_DIR": str(self.data)})

    def said(self) -> str:
        text = self.printed.getvalue()
        self.printed.truncate(0)
        return text


def test_a_model_is_listed_fetched_and_checked(tmp_path: Path) -> None:
    line = Line(tmp_path / "data")
    show_models(line.chosen, line.out)
    assert f"{BGE}  missing  512" in line.said()
    assert check_models(line.chosen, [], line.out) == exits.FOUND
    assert "models fetch" in line.said()
    fetch_model(line.chosen, BGE, str(folder_with(BGE) / BGE), line.out)
    assert f"embedding.model {BGE}" in line.said()
    assert check_models(line.chosen, [], line.out) == exits.DONE
    assert f"{BGE}: whole" in line.said()
    (tmp_path / "data" / "models" / BGE / "tokenizer.json").write_text("{}", encoding="utf-8")
    assert check_models(line.chosen, [BGE], line.out) == exits.FOUND
    assert f"{BGE}: damaged" in line.said()


def test_a_model_that_cannot_be_had_is_an_error_people_can_read(tmp_path: Path) -> None:
    line = Line(tmp_path / "data")
    with pytest.raises(ProfileUnavailable, match="folder has neither"):
        fetch_model(line.chosen, BGE, str(tmp_path), line.out)


def test_settings_pick_the_embedders_and_the_reranker(tmp_path: Path) -> None:
    clock = FakeClock()
    ports = Ports(store=MemoryStore(clock=clock), clock=clock)
    plain = make_deps(load({"ROOTWARD_DATA_DIR": str(tmp_path)}), ports)
    assert plain.reranker is None
    assert isinstance(plain.embedders, Embedders)
    assert plain.embedders.folder == tmp_path / "models"
    given = load(
        {
            "ROOTWARD_DATA_DIR": str(tmp_path),
            "ROOTWARD_EMBEDDING__URL": "http://127.0.0.1:9/v1",
            "ROOTWARD_EMBEDDING__CREDENTIAL": "",
            "ROOTWARD_MODELS__FOLDER": str(tmp_path / "elsewhere"),
            "ROOTWARD_RERANK__URL": "http://127.0.0.1:9/v1/rerank",
            "ROOTWARD_RERANK__MODEL": "ranker",
        }
    )
    other = make_deps(given, ports)
    assert isinstance(other.embedders, Embedders)
    assert (other.embedders.url, other.embedders.folder) == ("http://127.0.0.1:9/v1", tmp_path / "elsewhere")
    assert models_folder(given) == tmp_path / "elsewhere"
    assert isinstance(other.reranker, HttpReranker)
    assert (other.reranker.poster.url, other.reranker.model) == ("http://127.0.0.1:9/v1/rerank", "ranker")
