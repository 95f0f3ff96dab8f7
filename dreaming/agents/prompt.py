"""What a model is asked about an agent: what it knows, and what its last turns brought. Source: AM-4, AM-22, AM-31."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dreaming.consolidation import MAX_OUTPUT_TOKENS, answer_schema, cut_text, section
from dreaming.models.port import ChatMessage, ModelRequest, Role
from dreaming.prompts import load_prompt
from dreaming.sessions.prompt import known_lines
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.sessions import AgentEntry, SessionItem
from graph.model.time import render
from graph.rules.agent_memory import KINDS, source_of

PURPOSE = "learn_agent.changes"
_SOURCE: Json = {
    "type": "object",
    "properties": {"session": {"type": "string"}, "item": {"type": "string"}},
    "required": ["session", "item"],
}


def agent_request(
    entries: Sequence[AgentEntry],
    items: Sequence[SessionItem],
    partners: Mapping[NodeId, NodeId | None],
    people: Mapping[str, str],
) -> ModelRequest:
    """Return the question about unread items.

    Args:
        entries: the present memory; what was retracted is not shown.
        items: what is read, oldest first.
        partners: with whom the agent worked when an item came, by id of the item.
        people: what people are called, by id.
    """
    prompt = load_prompt("learn_agent")
    lines = [_line(item, partners.get(item.id), people) for item in items]
    text = "\n\n".join([section("Known", known_lines(entries)), section("Items", lines)])
    return ModelRequest(
        purpose=PURPOSE,
        prompt=prompt.id,
        messages=(ChatMessage(role=Role.SYSTEM, text=prompt.text), ChatMessage(role=Role.USER, text=text)),
        schema=answer_schema(KINDS, _SOURCE),
        max_output_tokens=MAX_OUTPUT_TOKENS,
        source_ids=tuple(item.id for item in items),
    )


def _line(item: SessionItem, partner: NodeId | None, people: Mapping[str, str]) -> Json:
    source = source_of(item.id)
    named = {"with": partner, "from": item.person_id}
    return {
        "session": source.session,
        "item": source.item,
        "at": render(item.occurred_at),
        "type": item.type,
        **{name: people[who] for name, who in named.items() if who is not None and who in people},
        **cut_text(item.text),
    }
