"""What Dreaming costs: calls of a model and tokens for a thousand messages, both stages; nothing on unchanged data.

    python -m bench.dreaming [--scale 1] [--data ../shared/data]

The model is scripted: an episode of twelve messages, everything opened, a statement an episode with a quote that is
there. So the prompts are the real ones and the answers are of the length that is asked for. Tokens are those of the
service's own counter. The reference is the text of the messages read once: how often is each token of talk paid for.
The sample is read at once, as at a first start; a conversation of LoCoMo once session by session, as it was said, and
once at once, as after an import. The data are not part of the project; without them the sample alone is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from api.bootstrap import Ports, make_deps, running
from api.importers.dates import parse_timezone
from api.importers.model import ImportedMessage, ImportTally
from api.importers.read import Form, read_export
from api.sample.dreaming import NIGHT
from api.sample.load import SampleLoader
from api.sample.recording import quoted
from api.sample.story import load_messages
from api.settings import Settings
from dreaming.models.making import OneModel
from dreaming.models.port import ModelAnswer, ModelRequest
from dreaming.worker import HANDLERS, LOOKOUTS, Worker
from graph.model.access import SystemScope
from graph.model.nodes.evidence import ChannelKind
from graph.model.nodes.learning import DreamBatch, DreamRun
from graph.model.time import Millis
from graph.rules.ingest import IncomingMessage
from graph.services.access.agents import create_agent
from graph.services.access.commands import command
from graph.services.access.provisioning import create_channel
from graph.services.access.workspaces import NewWorkspace, init_workspace
from graph.services.deps import Deps
from graph.services.knowledge.conversations import open_conversation
from graph.services.knowledge.ingest import ingest_messages
from graph.store.query import Find
from graph.text.tokens import DEFAULT_TOKENIZER

FILE = "locomo-dev.json"
STAGES = ("stage_a", "stage_b")
EPISODE = 12
DAY_MS = 86_400_000
LOOK = SystemScope(reason="bench")
Json = dict[str, Any]


class BenchClock:
    """Stands where the bench puts it."""

    def __init__(self, at: Millis) -> None:
        self.at = at

    def now(self) -> Millis:
        return self.at

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(kw_only=True)
class Curator:
    """A scripted model that does as it is asked, and counts."""

    name: str = "scripted"
    calls: dict[str, int] = field(default_factory=dict)
    read: int = 0
    written: int = 0

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        rows = list(quoted(request))
        answer = {"stage_a.split": _split, "stage_b.select": _select, "stage_b.decide": _decide}[request.purpose](rows)
        text = json.dumps(answer, ensure_ascii=False)
        read = sum(DEFAULT_TOKENIZER.count(message.text) for message in request.messages)
        written = DEFAULT_TOKENIZER.count(text)
        self.calls[request.purpose] = self.calls.get(request.purpose, 0) + 1
        self.read += read
        self.written += written
        return ModelAnswer(text=text, input_tokens=read, output_tokens=written, model=self.name)

    @property
    def total(self) -> int:
        return sum(self.calls.values())


def _split(rows: Sequence[Json]) -> Json:
    episodes = []
    for start in range(0, len(rows), EPISODE):
        part = rows[start : start + EPISODE]
        told = " ".join(row["text"] for row in part)
        episode: Json = {"topic": part[0]["text"][:80] or "talk", "summary": told[:400] or "talk"}
        episode["questions"] = [f"What was said about {row['text'][:60]}?" for row in part[:3]]
        episode["conclusions"] = [{"text": part[-1]["text"][:200] or "talk", "messageIds": [part[-1]["id"]]}]
        episodes.append({**episode, "systems": [], "sideTopic": False, "messageIds": [row["id"] for row in part]})
    return {"episodes": episodes, "skipped": [], "open": []}


def _select(rows: Sequence[Json]) -> Json:
    items = [row["id"] for row in rows if row.get("kind") == "episode"]
    entries = [row["id"] for row in rows if "name" in row and "type" in row]
    return {"expand": items, "entries": entries[:20], "skills": [], "skip": []}


def _decide(rows: Sequence[Json]) -> Json:
    known = [row["id"] for row in rows if "name" in row and "type" in row and row.get("scope") == "this"]
    operations: list[Json] = []
    for first in _first_messages(rows):
        block = _block(first)
        if known:
            operations.append({"op": "addBlock", "entry": known[len(operations) % len(known)], **block})
        else:
            name = " ".join(first["text"].split()[:4])
            made = {"op": "createEntry", "ref": "new1", "name": name, "type": "concept", "summary": name}
            operations.append({**made, "blocks": [block]})
            known.append("new1")
    return {"operations": operations}


def _first_messages(rows: Sequence[Json]) -> Iterator[Json]:
    """Yield of each episode the first message of a person that has words to quote."""
    wanted = False
    for row in rows:
        if row.get("kind") == "episode":
            wanted = True
        elif wanted and len(row.get("text", "")) >= 20 and not row.get("agent"):
            wanted = False
            yield row


def _block(row: Json) -> Json:
    quote = row["text"].strip()[:200].strip()
    block = {"text": f"{row.get('speaker', 'Somebody')} said: {quote}", "basis": "stated", "standing": "settled"}
    cited = {"source": row["id"], "quote": quote, "role": "supports"}
    return {**block, "change": "addition", "durability": "durable", "citations": [cited]}


@dataclass(frozen=True, kw_only=True)
class Cost:
    """One row of the table."""

    what: str
    messages: int
    talk_tokens: int
    first: Curator
    again: Curator
    operations: int
    rejected: int
    unfinished: tuple[str, ...]

    def cells(self) -> tuple[str, ...]:
        thousand = self.messages / 1_000
        calls = ", ".join(f"{purpose} {count}" for purpose, count in sorted(self.first.calls.items()))
        return (
            self.what,
            f"{self.messages:,}",
            f"{self.first.total / thousand:,.1f}",
            f"{self.first.read / thousand:,.0f}",
            f"{self.first.written / thousand:,.0f}",
            f"{self.first.read / max(self.talk_tokens, 1):.2f} x",
            f"{self.operations} / {self.rejected}",
            str(self.again.total),
            calls,
        )


COLUMNS = (
    "what",
    "messages",
    "calls / 1,000",
    "tokens read / 1,000",
    "tokens written / 1,000",
    "read per token of talk",
    "accepted / rejected",
    "calls of a second run",
    "calls",
)


async def dream(deps: Deps, model: Curator) -> tuple[str, ...]:
    """Do what is due; return how the tries ended that did not end well."""
    outcomes: list[str] = []
    handlers = {kind: HANDLERS[kind] for kind in STAGES}
    worker = Worker(
        deps=deps,
        anchor_minutes=0,
        handlers=handlers,
        models=OneModel(model=model),
        on_step=lambda kind, outcome: outcomes.append(outcome),
        on_fault=lambda error: print(f"fault: {error!r}", file=sys.stderr),
    )
    for kind in STAGES:
        await LOOKOUTS[kind](deps)
        while await worker.step([kind]):
            pass
    return tuple(outcome for outcome in outcomes if outcome != "done")


@dataclass(kw_only=True)
class House:
    """A store with a clock of the bench."""

    deps: Deps
    made: NewWorkspace
    clock: BenchClock
    first: Curator = field(default_factory=Curator)
    unfinished: tuple[str, ...] = ()

    async def night(self, ms: int = DAY_MS // 3) -> None:
        """Let some hours pass, then dream."""
        self.clock.at = Millis(self.clock.at + ms)
        self.unfinished += await dream(self.deps, self.first)

    async def cost(self, what: str, texts: Sequence[str]) -> Cost:
        """Dream once more over unchanged data and return what both cost."""
        again = Curator()
        self.clock.at = Millis(self.clock.at + 7 * DAY_MS)
        await dream(self.deps, again)
        async with self.deps.store.reading() as reader:
            runs = (await reader.find(LOOK, Find(kind=DreamRun))).nodes
            batches = (await reader.find(LOOK, Find(kind=DreamBatch))).nodes
        return Cost(
            what=what,
            messages=len(texts),
            talk_tokens=sum(map(DEFAULT_TOKENIZER.count, texts)),
            first=self.first,
            again=again,
            operations=sum(run.operations for run in runs),
            rejected=sum(len(batch.rejections or ()) for batch in batches),
            unfinished=self.unfinished,
        )


async def in_a_house(use: Callable[[House], Awaitable[Cost]], at: Millis) -> Cost:
    """Give a new embedded store to a measurement."""
    with tempfile.TemporaryDirectory(prefix="rootward-bench-") as folder:
        clock = BenchClock(at)
        deps = replace(make_deps(Settings(data_dir=Path(folder)), Ports()), clock=clock)
        async with running(deps):
            return await use(House(deps=deps, made=await init_workspace(deps, "main"), clock=clock))


async def sample(house: House) -> Cost:
    """Measure the sample, read at once."""
    loader = SampleLoader(deps=house.deps, made=house.made)
    await loader.load()
    house.clock.at = NIGHT
    await house.night(ms=0)
    await house.night()
    return await house.cost("sample, at once", [message.text for message in load_messages(loader.story)])


def conversation(turns: Sequence[ImportedMessage], *, at_once: bool) -> Callable[[House], Awaitable[Cost]]:
    """Return the measurement of a conversation, session by session or at once."""

    async def use(house: House) -> Cost:
        admin = house.made.caller
        agent = await command(house.deps, admin, lambda cmd: create_agent(cmd, "Listener", local_id="listener"))
        place = await command(
            house.deps, admin, lambda cmd: create_channel(cmd, agent.id, ChannelKind.PRIVATE_CHAT, "talk")
        )
        for _, session in groupby(turns, key=lambda turn: turn.conversation_key):
            said = [_incoming(turn) for turn in session]
            house.clock.at = Millis(max(house.clock.at, said[-1].sent_at))
            opened = await command(house.deps, admin, lambda cmd: open_conversation(cmd, place.id))
            await command(house.deps, admin, partial(ingest_messages, conversation_id=opened.id, messages=said))
            if not at_once:
                await house.night(ms=3_600_000)
                await house.night()
        if at_once:
            await house.night(ms=3_600_000)
            await house.night()
        how = "at once" if at_once else "session by session"
        return await house.cost(f"LoCoMo conversation, {how}", [turn.text for turn in turns])

    return use


def _incoming(turn: ImportedMessage) -> IncomingMessage:
    return IncomingMessage(
        external_id=turn.external_id, sent_at=turn.sent_at, text=turn.text, speaker_id=None, speaker=turn.speaker
    )


def first_conversation(data: Path, scale: float) -> list[ImportedMessage]:
    """Return the turns of the first conversation of the file, at a small scale its beginning; none without a file."""
    path = data / FILE
    if not path.exists():
        return []
    read = list(read_export(path, form=Form.LOCOMO, timezone=parse_timezone("UTC"), tally=ImportTally()))
    first = [turn for turn in read if turn.channel == read[0].channel]
    return first[: max(60, round(len(first) * scale))]


def show(rows: Sequence[Cost]) -> None:
    """Print the table."""
    shown = [COLUMNS, *(row.cells() for row in rows)]
    widths = [max(len(row[place]) for row in shown) for place in range(len(COLUMNS))]
    print("\nDreaming, calls and tokens for a thousand messages\n")
    for number, row in enumerate(shown):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    for cost in rows:
        for outcome in sorted(set(cost.unfinished)):
            print(f"{cost.what}: a job ended as {outcome}")


async def main() -> int:
    """Measure; 1 if something failed or a second run asked a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the conversation")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    chosen = parser.parse_args()
    rows = [await in_a_house(sample, NIGHT)]
    turns = first_conversation(chosen.data, chosen.scale)
    if not turns:
        print(f"LEFT OUT: a conversation of LoCoMo; there is no {chosen.data / FILE}")
    else:
        for at_once in (False, True):
            rows.append(await in_a_house(conversation(turns, at_once=at_once), turns[0].sent_at))
    show(rows)
    return 1 if any(row.again.total or row.unfinished for row in rows) else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
