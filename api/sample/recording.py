"""Answers of a model about the sample, written by hand, and the model that gives them.

They name things as the story does (`message:t054`, `message:t001..t013`, `entry:wan`, `block:by-rail`), and episodes by
their topic, since ids differ from load to load. An answer belongs to one question: its purpose, the version of its
prompt and the knowledge base that it is about. Where one of the three is another, or the question does not show what
the answer speaks of, there is no answer: a recording never answers something else. Source: AD-43, ADR 31.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict

from api.sample.story import SHARED, AddBlock, CreateEntry, EditBlock, Key, Story, load_messages
from dreaming.models.port import ModelAnswer, ModelRequest, Role
from dreaming.models.recorded import NOT_RECORDED
from graph.model.errors import ModelUnavailable

RECORDED = "recorded:sample"
"""What runs call the model that these answers come from."""
_NAME = re.compile(r"(?:message|document|entry|block|relation):[a-z0-9-]+|topic:.+")
_BASE = re.compile(r"^Knowledge base[^:\n]*: (\w+)$", re.MULTILINE)
_RANGE = re.compile(r"message:([a-z]+)(\d+)\.\.\1(\d+)")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RecordedAnswer(_Part):
    """The answer about one knowledge base, called by its pool in the story, or about one document handed in to it."""

    pool: Key
    document: str | None = None
    answer: dict[str, Any]


class Recording(_Part):
    """The answers to one kind of question; `prompt` is its id and version."""

    purpose: str
    prompt: str
    answers: tuple[RecordedAnswer, ...]


def load_recordings() -> tuple[Recording, ...]:
    """Read and check the recordings that come with the package."""
    found = sorted(files("api.sample").joinpath("dreams").iterdir(), key=lambda file: file.name)
    return tuple(Recording.model_validate_json(file.read_bytes()) for file in found if file.name.endswith(".json"))


@dataclass(frozen=True, kw_only=True)
class Known:
    """What things of the story say, by which a question that shows them is read.

    Attributes:
        pools: the pool of each message and entry, by name.
        texts: what each message and block says at last, by name.
        entries: what each entry is called, by name.
        titles: of documents, by name.
    """

    pools: Mapping[str, str]
    texts: Mapping[str, str]
    entries: Mapping[str, str]
    titles: Mapping[str, str]


def known_of(story: Story) -> Known:
    """Return what the things of a story say."""
    pool_of = {channel.key: channel.pool for channel in story.channels}
    messages = load_messages(story)
    pools = {f"message:{message.external_id}": pool_of[message.channel] for message in messages}
    texts = {f"message:{message.external_id}": message.text for message in messages}
    entries = {}
    for batch in story.batches:
        for operation in batch.operations:
            if isinstance(operation, CreateEntry):
                pools[operation.ref] = batch.pool
                entries[operation.ref] = operation.name
                texts |= {block.label: block.text for block in operation.blocks if block.text}
            elif isinstance(operation, AddBlock) and operation.text:
                texts[operation.label] = operation.text
            elif isinstance(operation, EditBlock) and operation.text:
                texts[operation.block] = operation.text
    titles = {f"document:{document.key}": document.title for document in story.documents}
    return Known(pools=pools, texts=texts, entries=entries, titles=titles)


@dataclass(frozen=True, kw_only=True)
class SampleModel:
    """Answers about the sample from the recordings; nobody is asked, and nothing is paid.

    Attributes:
        bases: the pool of each kind of knowledge base; the story has one of a kind.
    """

    known: Known
    bases: Mapping[str, str]
    recordings: tuple[Recording, ...]
    name: str = RECORDED

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the recorded answer in the words of the question.

        Raises:
            ModelUnavailable: ``not_recorded``.
        """
        pool = self._pool(request)
        labels = dict(self._labels(request, pool))
        answer = self._recorded(request, pool, labels)
        if not set(names_in(answer)) <= labels.keys():
            raise ModelUnavailable(NOT_RECORDED)
        return ModelAnswer(text=json.dumps(renamed(answer, labels), ensure_ascii=False), model=self.name)

    def _pool(self, request: ModelRequest) -> str:
        """Return the knowledge base that a question is about: it says so, or quotes messages of that one alone."""
        said = [_BASE.search(message.text) for message in request.messages if message.role is Role.USER]
        kind = next((found[1] for found in said if found), None)
        if kind is not None:
            return self.bases.get(kind, "")
        texts = {row["text"] for row in quoted(request) if "text" in row}
        pools = Counter(pool for name, pool in self.known.pools.items() if self.known.texts.get(name) in texts)
        return max(pools, key=lambda pool: pools[pool], default="")

    def _labels(self, request: ModelRequest, pool: str) -> Iterator[tuple[str, str]]:
        """Yield how the question calls what it quotes, each by its name in the story."""
        known = self.known
        left = {name: text for name, text in known.texts.items() if known.pools.get(name, pool) in (pool, SHARED)}
        for row in quoted(request):
            if "topic" in row:
                yield f"topic:{row['topic']}", row["id"]
            yield from ((name, row["id"]) for name, title in known.titles.items() if title == row.get("title"))
            if "name" in row and "type" in row:
                called = (row["name"], pool if row.get("scope") == "this" else SHARED)
                yield from ((n, row["id"]) for n, e in known.entries.items() if (e, known.pools[n]) == called)
            for one in (row, *row.get("blocks", ())):
                name = next((n for n, text in left.items() if text == one.get("text")), None)
                if name is not None:  # two messages may say the same: the first shown is the first said
                    del left[name]
                    yield name, one["id"]

    def _recorded(self, request: ModelRequest, pool: str, shown: Collection[str]) -> dict[str, Any]:
        for recording in self.recordings:
            if (recording.purpose, recording.prompt) == (request.purpose, request.prompt):
                for one in recording.answers:
                    if one.pool == pool and (one.document is None or one.document in shown):
                        return one.answer
        raise ModelUnavailable(NOT_RECORDED)


def sample_model(story: Story, recordings: tuple[Recording, ...] | None = None) -> SampleModel:
    """Return the model of a story; its recordings are those of the package unless others are given."""
    bases = {"shared": SHARED}
    for channel in story.channels:
        if channel.pool != SHARED:
            bases["private" if channel.kind == "private_chat" else "channel"] = channel.pool
    found = load_recordings() if recordings is None else recordings
    return SampleModel(known=known_of(story), bases=bases, recordings=found)


def quoted(request: ModelRequest) -> Iterator[dict[str, Any]]:
    """Yield what a question quotes as data: the JSON objects that stand in a line of their own."""
    for message in request.messages:
        if message.role is Role.USER:
            for line in message.text.splitlines():
                if line.startswith("{"):
                    with suppress(ValueError):
                        yield json.loads(line)


def names_in(value: Any) -> Iterator[str]:
    """Yield the names of the story in an answer; ranges are written out."""
    if isinstance(value, dict):
        for item in value.values():
            yield from names_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from names_in(item)
    elif isinstance(value, str):
        yield from _written_out(value) if _RANGE.fullmatch(value) else [value] if _NAME.fullmatch(value) else []


def renamed(value: Any, labels: Mapping[str, str]) -> Any:
    """Return an answer with labels for names; a text is never a bare name."""
    if isinstance(value, dict):
        return {key: renamed(item, labels) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, labels) for one in value for item in _written_out(one)]
    return labels.get(value, value) if isinstance(value, str) else value


def _written_out(item: Any) -> list[Any]:
    """Return the names that a range stands for; anything else stands for itself.

    >>> _written_out("message:t009..t011")
    ['message:t009', 'message:t010', 'message:t011']
    """
    found = _RANGE.fullmatch(item) if isinstance(item, str) else None
    if found is None:
        return [item]
    letter, first, last = found.groups()
    return [f"message:{letter}{number:0{len(first)}}" for number in range(int(first), int(last) + 1)]
