"""Evidence recall of `memorySearch` through the real service on the embedded store.

    python bench/retrieval.py [--scale 1] [--data ../shared/data] [--engine embedded|memory]

Every turn is ingested as a message of a private chat, one conversation a session, and every question is asked as
`memorySearch`. The unit of retrieval is one turn: neighbours are off and fifty items may be returned. The reference
in the same run is plain BM25 of the turn alone. The data are not part of the project and may not be copied into it
(licences in `data/LICENSES.md`). Categories: 1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop; 5 adversarial
is reported apart.
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
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

from api.importers.dates import parse_timezone
from api.importers.model import ImportedMessage, ImportTally
from api.importers.read import Form, read_export
from graph.model.access import SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId, WorkspaceId, encode_body, hosted_id, node_id
from graph.model.nodes.evidence import Channel, ChannelKind, Source
from graph.model.nodes.people import Grant, Principal, PrincipalKind, SettingValue, Workspace
from graph.model.time import Millis
from graph.rules.ingest import IncomingMessage
from graph.rules.ranking import AVERAGE_WORDS, Bm25, TextKind
from graph.services.access.caller import Caller, workspace_node
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.deps import Deps
from graph.services.knowledge.conversations import open_conversation
from graph.services.knowledge.ingest import ingest_messages
from graph.services.search.search import memory_search
from graph.services.search.values import SearchQuestion
from graph.store.embedded import EmbeddedStore
from graph.store.port import Writer
from graph.store.query import Eq, Find
from graph.text.tokens import DEFAULT_TOKENIZER
from graph.text.words import analyze, query_words

FILES = ("locomo-dev.json", "memorybank-cn-dev.json")
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

    def __init__(self, directory: Path) -> None:
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
                    *(
                        SettingValue(
                            id=node_id("set", name),
                            workspace=self.workspace,
                            created_at=at,
                            scope_id=node,
                            name=name,
                            value=value,
                        )
                        for name, value in _SETTINGS.items()
                    ),
                ]
            )

        await self.store.transact(work)

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


async def measure(path: Path, scale: float) -> None:
    """Print the table of one file."""
    results: dict[str, list[dict[str, float]]] = {}
    spent_s: list[float] = []
    with tempfile.TemporaryDirectory() as directory:
        bench = Workbench(Path(directory))
        await bench.store.open()
        await bench.prepare()
        for talk in read_talks(path):
            agent, turns = await bench.load(talk)
            reference = plain_bm25(talk)
            for question in talk.questions[: max(1, round(len(talk.questions) * scale))]:
                started = time.perf_counter()
                refs = await bench.ask(agent, question.text)
                spent_s.append(time.perf_counter() - started)
                ranked = [turns[ref] for ref in refs if ref in turns]
                row = "5 adversarial" if question.category == 5 else f"{question.category}"
                results.setdefault(row, []).append(figures(ranked, question.evidence))
                if question.category != 5:
                    results.setdefault("1-4", []).append(results[row][-1])
                    plain = figures(reference[question.text], question.evidence)
                    results.setdefault("1-4 plain BM25", []).append(plain)
        await bench.store.close()
    _report(path.name, results, spent_s)


def _report(name: str, results: Mapping[str, Sequence[Mapping[str, float]]], spent_s: Sequence[float]) -> None:
    print(f"\n{name}")
    columns = [*(f"R@{k}" for k in DEPTHS), "nDCG@10"]
    print(f"{'category':<16}{'questions':>10}" + "".join(f"{column:>9}" for column in columns))
    for row, found in sorted(results.items()):
        means = [sum(f[column] for f in found) / len(found) for column in columns]
        print(f"{row:<16}{len(found):>10}" + "".join(f"{mean:>9.3f}" for mean in means))
    print(f"search p50 {1_000 * sorted(spent_s)[len(spent_s) // 2]:.1f} ms, fifty items each")


def main() -> None:
    """Measure every file that is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    arguments = parser.parse_args()
    paths = [arguments.data / file for file in FILES if (arguments.data / file).is_file()]
    if not paths:
        raise SystemExit(f"no conversations in {arguments.data}: name their folder with --data")
    for path in paths:
        asyncio.run(measure(path, arguments.scale))


if __name__ == "__main__":
    main()
