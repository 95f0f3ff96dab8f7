"""The port of language models, and how a name becomes a model. Source: SB-120.

A model is any object with ``async generate(request)``. Items have the form of OpenAI's Responses: messages
(``{"role": …, "content": …}``), calls (``{"type": "function_call", "call_id": …, "name": …, "arguments": "{…}"}``)
and their results (``{"type": "function_call_output", "call_id": …, "output": …}``).
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from rootward.errors import InvalidAnswer, ModelUnavailable

Item: TypeAlias = Mapping[str, object]
"""One message, call or result, as a JSON object."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """Something a model may call.

    Attributes:
        parameters: JSON schema of the arguments, an object.
        invoke: takes the arguments and returns what the model reads; raises `ToolError` to tell it what went wrong.
        needs_approval: a call waits until somebody approves it; the run ends meanwhile.
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    invoke: Callable[[Mapping[str, object]], Awaitable[str]]
    needs_approval: bool = False


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """One question to a model.

    Attributes:
        input: the conversation so far, oldest first.
        output_schema: JSON schema that the answer must have; None for free text.
        tools: what it may call.
    """

    instructions: str
    input: Sequence[Item]
    output_schema: Mapping[str, object] | None = None
    tools: Sequence[Tool] = ()


@dataclass(frozen=True, kw_only=True)
class ModelResponse:
    """What a model answered: messages, calls and whatever else it says, in order."""

    output: Sequence[Item]

    @property
    def calls(self) -> list[Item]:
        """The tools it wants called."""
        return [item for item in self.output if item.get("type") == "function_call"]

    @property
    def text(self) -> str | None:
        """The text of its last message; None without one."""
        said = [item for item in self.output if item.get("role") == "assistant"]
        return message_text(said[-1]) if said else None


Answer: TypeAlias = ModelResponse | str | Mapping[str, object]
"""A whole response; or a text; or a JSON object that is the answer."""


@runtime_checkable
class Model(Protocol):
    """A language model."""

    async def generate(self, request: ModelRequest) -> Answer:
        """Return the answer to one request. Whatever it raises fails the run or the phase that asked."""
        ...


ModelRef: TypeAlias = str | Model
"""A model, or the name of one."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where a model of some name answers: an address that speaks OpenAI's Chat Completions."""

    base_url: str
    api_key: str = ""
    model: str


ModelBook: TypeAlias = Mapping[str, Model | Endpoint | Mapping[str, str]]
"""Names to models; an endpoint may be given as its mapping."""


def find_model(ref: ModelRef, book: ModelBook) -> Model:
    """Return the model that is meant.

    Raises:
        ModelUnavailable: the book does not have the name.
    """
    if not isinstance(ref, str):
        return ref
    if ref not in book:
        raise ModelUnavailable(f"no model is named {ref!r}; give the client models={{{ref!r}: …}}")
    return _from_book(book[ref])


def _from_book(entry: Model | Endpoint | Mapping[str, str]) -> Model:
    if isinstance(entry, Mapping):
        entry = Endpoint(**entry)
    if isinstance(entry, Endpoint):
        from rootward.endpoint import EndpointModel  # only who asks over HTTP needs its client

        return EndpointModel(entry)
    return entry


async def ask(model: Model, request: ModelRequest) -> ModelResponse:
    """Return the model's answer as items.

    Raises:
        InvalidAnswer: it is none of the forms of `Answer`.
    """
    answer = await model.generate(request)
    if isinstance(answer, ModelResponse):
        return answer
    if isinstance(answer, str):
        return ModelResponse(output=[message("assistant", answer)])
    if isinstance(answer, Mapping):
        return ModelResponse(output=[message("assistant", json.dumps(answer, ensure_ascii=False))])
    raise InvalidAnswer("generate() must return a ModelResponse, a text or a mapping")


def message(role: str, text: str) -> Item:
    """Return a message as an item.

    >>> message("user", "Hello")
    {'role': 'user', 'content': 'Hello'}
    """
    return {"role": role, "content": text}


def call(name: str, call_id: str = "call_1", /, **arguments: object) -> Item:
    """Return the call of a tool as an item.

    >>> call("shell", command="ls")["arguments"]
    '{"command": "ls"}'
    """
    return {
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": json.dumps(arguments, ensure_ascii=False),
    }


def message_text(item: Item) -> str:
    """Return the text of a message, its parts joined.

    >>> message_text({"role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]})
    'Hi'
    """
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else ()
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))
