"""Evidence recall of `memorySearch` through the real service on the embedded store.

    python bench/retrieval.py [--scale 1] [--data ../shared/data] [--models .cache/models] [--vectors FILE]

Every turn is ingested as a message of a private chat, one conversation a session, and every question is asked as
`memorySearch`. The unit of retrieval is one turn: neighbours are off and fifty items may be returned. The reference
in the same run is plain BM25 of the turn alone. Where the folder of models has the model of a file's language
(`rootward models fetch`), all is asked again with vectors, and once more without decay, which may cost .01 at most.
``--vectors`` names a file that keeps vectors between runs. The data are not part of the project and may not be copied
into it; docs/how-to/run-the-benchmarks.md says which they are. Categories: 1 multi-hop, 2 temporal, 3 open-domain,
4 single-hop; 5 adversarial is reported apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2
from pathlib import Path
from typing import Any

from api.importers.dates import parse_timezone
from api.importers.model import ImportedMessage, ImportTally
from api.importers.read import Form, read_export
from bench._kept_vectors import KeptVectors
from dreaming.embedding import make_vectors
from dreaming.models.embedding_making import LOCAL, Embedders
from dreaming.models.local_models import ModelState, state_of
from dreaming.worker import Worker
from graph.model.access import SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId, WorkspaceId, encode_body, hosted_id, node_id
from graph.model.nodes.evidence import Channel, ChannelKind, Source
from graph.model.nodes.people import Grant, Principal, PrincipalKind, SettingValue, Workspace
from graph.model.time import Millis
from graph.ports import EmbedderMaker
from graph.rules.ingest import IncomingMessage
from graph.rules.ranking import AVERAGE_WORDS, Bm25, TextKind
from graph.services.access.caller import Caller, workspace_node
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.deps import Deps
from graph.services.knowledge.conversations import open_conversation
from graph.services.knowledge.ingest import ingest_messages
from graph.services.learning.embedding import arrange_embedding
from graph.services.search.search import memory_search
from graph.services.search.values import SearchQuestion
from graph.store.embedded import EmbeddedStore
from graph.store.port import Writer
from graph.store.query import Eq, Find
from graph.text.tokens import DEFAULT_TOKENIZER
from graph.text.words import analyze, query_words
from tests.support.keyring import fixed_vault

FILES = {"locomo-dev.json": "e5-small-v2", "memorybank-cn-dev.json": "bge-small-zh-v1.5"}
"""Conversations, and the embedding model of their language."""
NO_DECAY = {"search.message_half_life_days": 1e9}
DEPTHS = (1, 5, 10, 50)
_SETTINGS = {"search.neighbours": 0, "search.max_items": 50, "search.total_tokens": 32_000}


class BenchClock:
    """Stands where the conversation stands."""

    def __init__(self) -> None:
        self.at = Millis(0)

    def now(self) -> Millis:
        return self.at

    async def sleep(self, seconds: float) -> None:
        del seconds


class BenchIds:
    """Ids in order, so that a run can be repeated."""

    def __init__(self) -> None:
        self._last = 0

    def new(self) -> str:
        self._last += 1
        return encode_body(self._last, b"\0" * 10)


class BenchRandomness:
    """Bytes of the system."""

    def bytes(self, count: int) -> bytes:
        return secrets.token_bytes(count)


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question with the ids of the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Talk:
    """One conversation of the file with its questions."""

    name: str
    turns: tuple[ImportedMessage, ...]
    questions: tuple[Question, ...]


def read_talks(path: Path) -> list[Talk]:
    """Return the conversations of a file in LoCoMo's form."""
    samples = json.loads(path.read_text(encoding="utf-8"))
    turns: dict[str, list[ImportedMessage]] = {}
    for message in read_export(path, form=Form.LOCOMO, timezone=parse_timezone("UTC"), tally=ImportTally()):
        turns.setdefault(message.channel, []).append(message)
    return [
        Talk(name=str(number), turns=tuple(told), questions=tuple(_questions(sample, told)))
        for number, (sample, told) in enumerate(zip(samples, turns.values(), strict=True))
    ]


def _questions(sample: Mapping[str, Any], turns: Iterable[ImportedMessage]) -> Iterable[Question]:
    known = {turn.external_id for turn in turns}
    for asked in sample["qa"]:
        evidence = frozenset(asked["evidence"]) & known
        if evidence:
            yield Question(text=asked["question"], category=asked["category"], evidence=evidence)


class Workbench:
    """One store, one agent a talk, one private chat an agent."""

    def __init__(self, directory: Path, embedders: EmbedderMaker) -> None:
        self.clock = BenchClock()
        self.store = EmbeddedStore(directory / "retrieval.db", clock=self.clock)
        self.deps = Deps(
            store=self.store,
            clock=self.clock,
            ids=BenchIds(),
            randomness=BenchRandomness(),
            tokenizer=DEFAULT_TOKENIZER,
            blobs=None,  # type: ignore[arg-type]  # no file is handed in
            fetcher=None,  # type: ignore[arg-type]  # no page is fetched
            extractor=None,  # type: ignore[arg-type]  # no file is read
            vault=fixed_vault(),
            embedders=embedders,
        )
        self.workspace = WorkspaceId("bench")
        self.reader = hosted_id(Principal.PREFIX, "bench", "reader", container="human")

    async def prepare(self) -> None:
        """Make the workspace, its reader and its settings."""
        node = workspace_node(self.workspace)
        at = Millis(0)

        async def work(writer: Writer) -> None:
            await writer.put(
                [
                    Workspace(id=node, workspace=self.workspace, created_at=at, display_name="bench"),
                    Principal(
                        id=self.reader, workspace=self.workspace, created_at=at, kind="human", display_name="Reader"
                    ),
                ]
            )

        await self.store.transact(work)
        await self.set(**_SETTINGS)

    async def set(self, **values: Any) -> None:
        """Put settings in force; None is the default."""
        node = workspace_node(self.workspace)
        settings = [
            SettingValue(
                id=node_id("set", name),
                workspace=self.workspace,
                created_at=Millis(0),
                scope_id=node,
                name=name,
                value=value,
            )
            for name, value in values.items()
        ]

        async def work(writer: Writer) -> None:
            await writer.delete([setting.id for setting in settings])
            await writer.put([setting for setting in settings if setting.value is not None])

        await self.store.transact(work)

    async def embed(self) -> None:
        """Make the vectors of all that waits, as a worker does."""
        await arrange_embedding(self.deps)
        worker = Worker(deps=self.deps, anchor_minutes=0, handlers={"embed": make_vectors})
        while await worker.step():
            pass

    async def load(self, talk: Talk) -> tuple[NodeId, dict[NodeId, str]]:
        """Ingest a talk and return its agent and the turn behind each source."""
        agent = hosted_id(Principal.PREFIX, "bench", f"agent-{talk.name}", container="agent")
        channel = hosted_id(Channel.PREFIX, "bench", "chat", container=f"agent-{talk.name}")
        await self._people(agent, channel)
        caller = Caller(workspace=self.workspace, principal=agent, kind=PrincipalKind.AGENT)
        by_session: dict[str, list[ImportedMessage]] = {}
        for turn in talk.turns:
            by_session.setdefault(turn.conversation_key, []).append(turn)
        for turns in by_session.values():
            self.clock.at = Millis(turns[0].sent_at)
            conversation = await command(self.deps, caller, lambda cmd: open_conversation(cmd, channel))
            said = [_incoming(turn) for turn in turns]
            await command(self.deps, caller, lambda cmd, c=conversation, s=said: ingest_messages(cmd, c.id, s))
        self.clock.at = Millis(talk.turns[-1].sent_at + 86_400_000)
        return agent, await self._turns(channel)

    async def _people(self, agent: NodeId, channel: NodeId) -> None:
        at, workspace = Millis(0), self.workspace

        async def work(writer: Writer) -> None:
            await writer.put(
                [
                    Principal(id=agent, workspace=workspace, created_at=at, kind="agent", display_name="Agent"),
                    Channel(
                        id=channel,
                        workspace=workspace,
                        created_at=at,
                        kind=ChannelKind.PRIVATE_CHAT,
                        owner_id=agent,
                    ),
                    Grant(
                        id=self.deps.new_id("gra"),
                        workspace=workspace,
                        created_at=at,
                        principal_id=self.reader,
                        right="reader",
                        object_id=agent,
                    ),
                ]
            )
            await writer.link([Edge(type=EdgeType.MEMBER_OF, source=self.reader, target=channel)])

        await self.store.transact(work)

    async def _turns(self, channel: NodeId) -> dict[NodeId, str]:
        async with self.store.reading() as reader:
            page = await reader.find(SystemScope(reason="bench"), Find(kind=Source, where=Eq("channel_id", channel)))
        return {source.id: source.external_id or "" for source in page.nodes}

    async def ask(self, agent: NodeId, question: str) -> list[NodeId]:
        """Return the refs of the answer, best first."""
        caller = Caller(workspace=self.workspace, principal=self.reader, kind=PrincipalKind.HUMAN)
        asked = SearchQuestion(query=question, owner_id=agent)
        answer, _ = await read(self.deps, caller, lambda session: memory_search(session, asked))
        return [item.ref for item in answer.items]


def _incoming(turn: ImportedMessage) -> IncomingMessage:
    return IncomingMessage(
        external_id=turn.external_id, sent_at=Millis(turn.sent_at), text=turn.text, speaker=turn.speaker
    )


def plain_bm25(talk: Talk) -> Mapping[str, list[str]]:
    """Return the reference: every turn scored alone by BM25, in memory."""
    texts = {turn.external_id: analyze(turn.text) for turn in talk.turns}
    frequency = Counter(word for words in texts.values() for word in set(words))
    ranked = {}
    for question in talk.questions:
        scorer = Bm25(
            words=query_words(question.text),
            visible_texts=len(texts),
            document_frequency=frequency,
            average_words=AVERAGE_WORDS[TextKind.MESSAGE],
        )
        scores = {id_: scorer.score_words(words) for id_, words in texts.items()}
        ranked[question.text] = sorted((i for i in scores if scores[i] > 0), key=lambda i: (-scores[i], i))
    return ranked


def figures(ranked: Sequence[str], evidence: frozenset[str]) -> dict[str, float]:
    """Return recall at each depth and nDCG@10 with binary relevance."""
    found = {f"R@{k}": len(evidence & set(ranked[:k])) / len(evidence) for k in DEPTHS}
    gain = sum(1 / log2(place + 2) for place, id_ in enumerate(ranked[:10]) if id_ in evidence)
    best = sum(1 / log2(place + 2) for place in range(min(10, len(evidence))))
    return {**found, "nDCG@10": gain / best}


@dataclass
class Pass:
    """The figures of all questions under some settings."""

    name: str
    settings: Mapping[str, Any]
    rows: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    spent_s: list[float] = field(default_factory=list)

    def add(self, category: int, found: dict[str, float]) -> None:
        """Add the figures of a question; the adversarial ones do not count for the mean."""
        self.rows.setdefault("5 adversarial" if category == 5 else f"{category}", []).append(found)
        if category != 5:
            self.rows.setdefault("1-4", []).append(found)


def passes(models: Path, model: str) -> list[Pass]:
    """Return what is to be measured: words alone and, where the model is there, vectors too."""
    words = Pass("by words", {"embedding.provider": None, "embedding.model": None})
    if state_of(models, model) is not ModelState.WHOLE:
        print(f"LEFT OUT: vectors, for {model} is not in {models}: `rootward models fetch {model}`")
        return [words]
    vectors = {"embedding.provider": LOCAL, "embedding.model": model}
    still = Pass("with vectors, without decay", {**vectors, **NO_DECAY})
    return [words, Pass(f"with vectors of {model}", {**vectors, **dict.fromkeys(NO_DECAY)}), still]


async def measure(path: Path, arguments: argparse.Namespace) -> None:
    """Print the tables of one file."""
    measured = passes(arguments.models, FILES[path.name])
    plain = Pass("plain BM25 of the turn alone", {})
    embedders = KeptVectors(Embedders(folder=arguments.models, credentials=lambda name: None), arguments.vectors)
    with tempfile.TemporaryDirectory() as directory:
        bench = Workbench(Path(directory), embedders)
        await bench.store.open()
        await bench.prepare()
        for talk in read_talks(path):
            asked = talk.questions[: max(1, round(len(talk.questions) * arguments.scale))]
            agent, turns = await bench.load(talk)
            reference = plain_bm25(talk)
            for question in asked:
                plain.add(question.category, figures(reference[question.text], question.evidence))
            for one in measured:
                await bench.set(**one.settings)
                await bench.embed()
                for question in asked:
                    started = time.perf_counter()
                    refs = await bench.ask(agent, question.text)
                    one.spent_s.append(time.perf_counter() - started)
                    one.add(question.category, figures([turns[ref] for ref in refs if ref in turns], question.evidence))
        await bench.store.close()
    print(f"\n{path.name}")
    for one in (plain, *measured):
        _report(one)


def _report(one: Pass) -> None:
    columns = [*(f"R@{k}" for k in DEPTHS), "nDCG@10"]
    print(f"\n{one.name}\n{'category':<16}{'questions':>10}" + "".join(f"{column:>9}" for column in columns))
    for row, found in sorted(one.rows.items()):
        means = [sum(f[column] for f in found) / len(found) for column in columns]
        print(f"{row:<16}{len(found):>10}" + "".join(f"{mean:>9.3f}" for mean in means))
    if one.spent_s:
        middle = 1_000 * sorted(one.spent_s)[len(one.spent_s) // 2]
        print(f"search p50 {middle:.1f} ms, fifty items each", flush=True)


def main() -> None:
    """Measure every file that is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--models", type=Path, default=Path(".cache/models"))
    parser.add_argument("--vectors", type=Path)
    arguments = parser.parse_args()
    paths = [arguments.data / file for file in FILES if (arguments.data / file).is_file()]
    if not paths:
        print(f"LEFT OUT: recall of evidence; there are no conversations in {arguments.data} (--data)")
    for path in paths:
        asyncio.run(measure(path, arguments))


if __name__ == "__main__":
    main()
