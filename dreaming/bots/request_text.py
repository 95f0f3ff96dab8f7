"""Requests of a Memory Bot as text: what its log keeps, and quoted parts of its prompts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from dreaming.models.port import ChatMessage, ModelRequest, Role
from dreaming.prompts import Prompt
from graph.model.fields import Json


def as_text(request: ModelRequest) -> str:
    """Return all that a model sees of a request, as the log keeps it."""
    return json.dumps([[str(message.role), message.text] for message in request.messages], ensure_ascii=False)


def lines(rows: Iterable[Mapping[str, Json]]) -> str:
    """Return objects one a line, so that no text among them can pass for another part of a prompt."""
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def request_of(
    purpose: str, prompt: Prompt, parts: Mapping[str, str], *, instructions: str = "", schema: Json = None
) -> ModelRequest:
    """Return the request of a prompt: its task text, the owner's instructions, and the parts under their headings."""
    task = prompt.text if not instructions else f"{prompt.text}\n\n## Rules of the owner\n\n{instructions}"
    shown = "\n\n".join(f"## {heading}\n\n{text}" for heading, text in parts.items() if text)
    return ModelRequest(
        purpose=purpose,
        prompt=prompt.id,
        messages=(ChatMessage(role=Role.SYSTEM, text=task), ChatMessage(role=Role.USER, text=shown)),
        schema=schema,
    )
