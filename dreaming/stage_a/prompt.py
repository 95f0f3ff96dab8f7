"""The question of Stage A: the messages of a batch as quoted data, one JSON object a line (DR-2, DR-10, DR-13)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from dreaming.curation.quoting import shown_time
from dreaming.models.port import ChatMessage, ModelRequest, Role
from dreaming.prompts import load_prompt
from dreaming.stage_a.answer import SplitShape
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.rules.stage_a import Batch
from graph.text.tokens import Tokenizer

PURPOSE = "stage_a.split"
_NOTHING_OPEN = "Nothing may stay open this time: `open` must be empty."
_TRIES = 12


def request_for(batch: Batch, tokenizer: Tokenizer, max_tokens: int) -> ModelRequest:
    """Return what is asked about a batch; a message longer than `max_tokens` by itself is shown in part."""
    prompt = load_prompt("stage_a")
    lines = _lines(batch, tokenizer, max_tokens)
    asked = f"{len(lines)} messages as quoted data, in the order in which they were sent:\n" + "\n".join(lines)
    if not batch.may_stay_open:
        asked += f"\n\n{_NOTHING_OPEN}"
    return ModelRequest(
        purpose=PURPOSE,
        prompt=prompt.id,
        messages=(ChatMessage(role=Role.SYSTEM, text=prompt.text), ChatMessage(role=Role.USER, text=asked)),
        schema=SplitShape.model_json_schema(),
        source_ids=batch.ids,
    )


def costs_of(messages: Sequence[Source], tokenizer: Tokenizer, max_tokens: int) -> Mapping[NodeId, int]:
    """Return how many tokens each message takes in a prompt, at most `max_tokens`."""
    return {m.id: min(tokenizer.count(_line(m, "m999", "t99", carried=True)), max_tokens) for m in messages}


def _lines(batch: Batch, tokenizer: Tokenizer, max_tokens: int) -> list[str]:
    threads: dict[NodeId, str] = {}
    for message in batch.messages:
        if message.thread_id:
            threads.setdefault(message.thread_id, f"t{len(threads) + 1}")
    lines = []
    for name, message in zip(batch.names, batch.messages, strict=True):
        thread = threads.get(message.thread_id) if message.thread_id else None
        line = _line(message, name, thread, carried=message.id in batch.carried)
        if tokenizer.count(line) > max_tokens:
            line = _shortened(message, name, thread, message.id in batch.carried, tokenizer, max_tokens)
        lines.append(line)
    return lines


def _line(message: Source, name: str, thread: str | None, *, carried: bool, text: str | None = None) -> str:
    shown: dict[str, Json] = {"id": name, "at": shown_time(message.occurred_at, message.said_offset)}
    shown["speaker"] = message.speaker or "unknown"
    if message.speaker_is_agent:
        shown["agent"] = True
    if thread:
        shown["thread"] = thread
    if carried:
        shown["carried"] = True
    if text is not None:
        shown["shortened"] = True
    shown["text"] = message.text if text is None else text
    return json.dumps(shown, ensure_ascii=False)


def _shortened(
    message: Source, name: str, thread: str | None, carried: bool, tokenizer: Tokenizer, max_tokens: int
) -> str:
    """Return the line with the beginning of the text; quoting makes a text longer, so it is cut until it fits."""
    budget = max_tokens - tokenizer.count(_line(message, name, thread, carried=carried, text=""))
    for _ in range(_TRIES):
        line = _line(message, name, thread, carried=carried, text=tokenizer.cut_to(message.text, budget))
        over = tokenizer.count(line) - max_tokens
        if over <= 0 or budget <= 0:
            return line
        budget = min(budget - over, budget * 9 // 10)
    return _line(message, name, thread, carried=carried, text="")
