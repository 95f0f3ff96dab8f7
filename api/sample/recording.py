"""Answers of a model about the sample, written by hand, and the model that gives them.

They name things as the story does (`message:t054`, `message:t001..t013`, `entry:wan`, `block:by-rail`), since ids
differ from load to load. An answer belongs to one question: its purpose, the version of its prompt and the knowledge
base that it is about. Where one of the three is another, or the question does not show what the answer speaks of, there
is no answer: a recording never answers something else. Source: AD-43, ADR 31.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict

from api.sample.story import SHARED, Key, Story, load_messages
from dreaming.models.port import ModelAnswer, ModelRequest, Role
from dreaming.models.recorded import NOT_RECORDED
from graph.model.errors import ModelUnavailable

RECORDED = "recorded:sample"
"""What runs call the model that these answers come from."""
_NAME = re.compile(r"(?:message|document|entry|block|relation):[a-z0-9-]+")
_RANGE = re.compile(r"message:([a-z]+)(\d+)\.\.\1(\d+)")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RecordedAnswer(_Part):
    """The answer about one knowledge base, called by its pool in the story."""

    pool: Key
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


def pools_of(story: Story) -> dict[str, str]:
    """Return the pool of each message of the story."""
    pool_of = {channel.key: channel.pool for channel in story.channels}
    return {f"message:{message.external_id}": pool_of[message.channel] for message in load_messages(story)}


@dataclass(frozen=True, kw_only=True)
class SampleModel:
    """Answers about the sample from the recordings; nobody is asked, and nothing is paid.

    Attributes:
        ids: real ids by the names of the story, as `SampleLoader` filled them.
        pools: the knowledge base that each message belongs to, by their names in the story.
    """

    ids: Mapping[str, str]
    pools: Mapping[str, str]
    recordings: tuple[Recording, ...]
    name: str = RECORDED

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the recorded answer in the words of the question.

        Raises:
            ModelUnavailable: ``not_recorded``.
        """
        labels = self._labels(request)
        answer = self._recorded(request, self._pool(labels))
        if not set(names_in(answer)) <= labels.keys():
            raise ModelUnavailable(NOT_RECORDED)
        return ModelAnswer(text=json.dumps(renamed(answer, labels), ensure_ascii=False), model=self.name)

    def _labels(self, request: ModelRequest) -> dict[str, str]:
        """Return what the question calls the messages that it shows, by their names in the story."""
        names = {id_: name for name, id_ in self.ids.items()}
        shown = [str(row["id"]) for row in quoted(request) if "text" in row]
        if len(shown) != len(request.source_ids):
            raise ModelUnavailable(NOT_RECORDED)
        return {names[id_]: label for id_, label in zip(request.source_ids, shown, strict=True) if id_ in names}

    def _pool(self, names: Iterable[str]) -> str:
        """Return the knowledge base that a question is about: the narrowest of those whose messages it shows."""
        pools = {self.pools[name] for name in names if name in self.pools}
        return next(iter(pools - {SHARED}), SHARED)

    def _recorded(self, request: ModelRequest, pool: str) -> dict[str, Any]:
        for recording in self.recordings:
            if (recording.purpose, recording.prompt) == (request.purpose, request.prompt):
                for one in recording.answers:
                    if one.pool == pool:
                        return one.answer
        raise ModelUnavailable(NOT_RECORDED)


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
