"""A model at an address that speaks OpenAI's Chat Completions. Source: SB-120, SB-121."""

from __future__ import annotations

from collections.abc import Mapping

import httpx2

from rootward.errors import InvalidAnswer, ModelUnavailable
from rootward.models import Endpoint, Item, ModelRequest, ModelResponse, Tool, message, message_text

_TIMEOUT_S = 300


class EndpointModel:
    """Asks the model of an `Endpoint`; one request an answer, nothing is tried twice.

    Args:
        transport: stands in for the network in tests.
    """

    def __init__(self, endpoint: Endpoint, *, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._endpoint = endpoint
        self._transport = transport

    async def generate(self, request: ModelRequest) -> ModelResponse:
        """Return the answer.

        Raises:
            ModelUnavailable: the address does not answer, or answers with an error.
            InvalidAnswer: it answers in another form.
        """
        key = self._endpoint.api_key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        url = f"{self._endpoint.base_url.rstrip('/')}/chat/completions"
        try:
            async with httpx2.AsyncClient(transport=self._transport, timeout=_TIMEOUT_S) as client:
                answer = await client.post(url, headers=headers, json=chat_request(self._endpoint.model, request))
                answer.raise_for_status()
        except httpx2.HTTPStatusError as error:
            raise ModelUnavailable(f"the model's address answered {error.response.status_code}") from None
        except httpx2.HTTPError as error:
            raise ModelUnavailable(f"the model's address cannot be reached ({type(error).__name__})") from None
        return read_chat(answer)


def chat_request(model: str, request: ModelRequest) -> dict[str, object]:
    """Return the body of a request."""
    body: dict[str, object] = {"model": model, "messages": chat_messages(request)}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.output_schema is not None:
        schema = {"name": "answer", "strict": True, "schema": request.output_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def chat_messages(request: ModelRequest) -> list[dict[str, object]]:
    """Return instructions and items as messages; calls made together are one message."""
    messages: list[dict[str, object]] = []
    if request.instructions:
        messages.append({"role": "system", "content": request.instructions})
    for item in request.input:
        if item.get("type") == "function_call":
            _calling(messages).append(_call(item))
        elif item.get("type") == "function_call_output":
            messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")})
        elif "role" in item:
            messages.append({"role": item["role"], "content": message_text(item)})
    return messages


def read_chat(answer: httpx2.Response) -> ModelResponse:
    """Return what a server answered as items.

    Raises:
        InvalidAnswer: it is none.
    """
    try:
        said = answer.json()["choices"][0]["message"]
        text, calls = _whole(said.get("content")), said.get("tool_calls") or []
        output: list[Item] = [message("assistant", text)] if isinstance(text, str) and (text or not calls) else []
        output += [_read_call(call) for call in calls]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise InvalidAnswer("the model's address answered in another form than Chat Completions") from None
    return ModelResponse(output=output)


def _calling(messages: list[dict[str, object]]) -> list[object]:
    """Return the calls of the last message, which becomes one that calls if it is not."""
    if not messages or messages[-1].get("role") != "assistant":
        messages.append({"role": "assistant", "content": None})
    calls = messages[-1].setdefault("tool_calls", [])
    assert isinstance(calls, list)  # as made in this line
    return calls


def _tool(tool: Tool) -> dict[str, object]:
    about = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": about}


def _call(item: Item) -> dict[str, object]:
    function = {"name": item.get("name"), "arguments": item.get("arguments")}
    return {"id": item.get("call_id"), "type": "function", "function": function}


def _read_call(call: Mapping[str, Mapping[str, object]]) -> Item:
    function = call["function"]
    return {
        "type": "function_call",
        "call_id": _whole(call["id"]),
        "name": _whole(function["name"]),
        "arguments": _whole(function["arguments"]),
    }


def _whole(given: object) -> object:
    """Return a text with U+FFFD for half of a surrogate pair: the next request could not be sent with it."""
    return given.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(given, str) else given
