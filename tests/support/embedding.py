"""An embedder of tests: meaning is a few groups of words, so that a text is near what means the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from graph.model.ids import NodeId, node_id
from graph.model.nodes.people import SettingValue
from graph.ports import Embedder, EmbeddingChoice
from graph.services.access.caller import workspace_node
from graph.store.port import Writer
from graph.text.words import analyze
from tests.support.world import TeamWorld

MEANINGS: Sequence[frozenset[str]] = tuple(
    frozenset(word for text in group for word in analyze(text))
    for group in (
        ("dog", "puppy", "hound"),
        ("kiln", "oven", "furnace"),
        ("ship", "boat", "vessel"),
        ("happy", "glad", "cheerful"),
        ("money", "cash", "budget"),
    )
)


@dataclass
class WordsEmbedder:
    """Counts the words of each meaning; a text without any points its own way.

    Attributes:
        size: numbers in a vector.
        asked: the texts of each call.
        instead: called with the texts first; it may raise or wait.
    """

    size: int = 8
    asked: list[list[str]] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    instead: Callable[[Sequence[str]], None] = lambda texts: None

    async def embed(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        self.instead(texts)
        if query:
            self.queries += texts
        else:
            self.asked.append(list(texts))
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        words = analyze(text)
        counts = [float(sum(word in meaning for word in words)) for meaning in MEANINGS]
        vector = [*counts, *([0.0] * (self.size - len(counts)))]
        vector[-1] = 0.2
        length = math.hypot(*vector)
        return [number / length for number in vector]


@dataclass
class Embedders:
    """Gives the embedder of a model's name."""

    models: dict[str, WordsEmbedder] = field(default_factory=lambda: {"words": WordsEmbedder()})

    def __call__(self, choice: EmbeddingChoice) -> Embedder:
        return self.models[choice.model]


async def choose(world: TeamWorld, **settings: object) -> None:
    """Set settings of the workspace, such as ``embedding__model="words"``, whether or not they are set."""

    async def work(writer: Writer) -> None:
        node = workspace_node(world.workspace)
        ids = {name: node_id(SettingValue.PREFIX, f"{world.name}-{name}") for name in settings}
        await writer.delete(list(ids.values()))
        await writer.put([_value(world, node, ids[name], name, value) for name, value in settings.items()])

    await world.deps.store.transact(work)


def _value(world: TeamWorld, scope: NodeId, id_: NodeId, name: str, value: object) -> SettingValue:
    return SettingValue(
        id=id_,
        workspace=world.workspace,
        created_at=world.deps.now(),
        scope_id=scope,
        name=name.replace("__", "."),
        value=value,
    )
