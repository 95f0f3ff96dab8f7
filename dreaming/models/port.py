"""The port of language models: messages in, text and usage out. Source: DR-9.

An adapter makes one request a call and never tries again by itself: how often and when is decided by the job, so that
retries do not multiply. What a model says is data; nothing here believes it (`dreaming.models.answers` reads it).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import rfc8785

from graph.model.errors import ModelUnavailable as ModelUnavailable
from graph.model.fields import Json

MAX_CHARS = 2_000_000
"""A longer answer is no answer to anything that is asked here; it is neither read nor kept whole."""


class Role(StrEnum):
    """Who says a message of a prompt."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Finish(StrEnum):
    """Why a model stopped."""

    STOP = "stop"
    LENGTH = "length"
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatMessage:
    """One message of a prompt."""

    role: Role
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRequest:
    """One question to a model.

    Attributes:
        purpose: what it is for, such as ``stage_b.decide``.
        prompt: id and version of the prompt, such as ``stage_b.decide@1``.
        schema: JSON schema that the answer should have; None for free text. A provider may ignore it.
        source_ids: sources whose text stands in the messages; erasing one blanks the saved answer.
    """

    purpose: str
    prompt: str
    messages: tuple[ChatMessage, ...]
    schema: Json = None
    max_output_tokens: int = 4_096
    source_ids: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of all that the model sees; equal requests have equal ones."""
        seen = {
            "prompt": self.prompt,
            "messages": [[str(message.role), message.text] for message in self.messages],
            "schema": self.schema,
        }
        return hashlib.sha256(rfc8785.dumps(seen)).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelAnswer:
    """What a model answered.

    Attributes:
        text: as the model wrote it: perhaps fenced, with thinking, cut or no JSON at all.
        input_tokens, output_tokens: as the provider counted; 0 where it did not say.
        model: the name the provider answered with.
        cost_micro_usd: what it cost; None if the price or the usage is unknown.
        usage_reported: false where the provider told nothing of what it used: then nobody knows the cost (BM-135).
    """

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    finish: Finish = Finish.STOP
    model: str = ""
    cost_micro_usd: int | None = None
    usage_reported: bool = True


class ModelPort(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """What to call it in records, such as ``openai:gpt-x``."""
        ...

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the model's answer to one request; nothing is kept, nothing is tried twice.

        Raises:
            ModelUnavailable: no answer came.
        """
        ...
