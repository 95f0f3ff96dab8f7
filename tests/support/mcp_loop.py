"""An agent over the Model Context Protocol: a scripted model whose tools are those of an endpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from mcp import Client
from mcp_types import TextContent

from rootward.errors import ToolError
from rootward.loop import Loop
from rootward.models import Item, ModelRequest, ModelResponse, Tool
from rootward.testing import Says, ScriptedModel


async def tools_of(client: Client) -> list[Tool]:
    """Return the tools of an endpoint as a model is given them."""
    listed = (await client.list_tools()).tools
    return [
        Tool(
            name=tool.name,
            description=tool.description or "",
            parameters=tool.input_schema,
            invoke=partial(_invoke, client, tool.name),
        )
        for tool in listed
    ]


async def work(client: Client, *says: Says, preamble: str = "", max_turns: int = 12) -> ScriptedModel:
    """Let a model that says this work with the tools of an endpoint until it has nothing more to call."""
    model = ScriptedModel(*says)
    loop = Loop(model=model, instructions=client.instructions or "", tools=await tools_of(client), max_turns=max_turns)
    await loop.go([{"role": "user", "content": f"{preamble}\nGo on."}])
    return model


def uses(tool: str, /, **arguments: Any) -> ModelResponse:
    """Return an answer of a model that calls one tool."""
    call: Item = {
        "type": "function_call",
        "call_id": f"call-{tool}",
        "name": tool,
        "arguments": json.dumps(arguments),
    }
    return ModelResponse(output=[call])


def last_read(request: ModelRequest) -> Any:
    """Return what the model was told last, by a tool; the text of a failure as it is."""
    told = str(request.input[-1]["output"])
    return told if told.startswith("error: ") else json.loads(told)


async def _invoke(client: Client, name: str, arguments: Mapping[str, object]) -> str:
    result = await client.call_tool(name, dict(arguments))
    text = "".join(part.text for part in result.content if isinstance(part, TextContent))
    if result.is_error:
        raise ToolError(text)
    return text
