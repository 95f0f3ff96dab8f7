"""What the tools of knowledge take and give: pydantic where a model writes, plain JSON where it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from api.bodies import advice_of, path_of
from graph.model.errors import InvalidRequest
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.time import Millis, render, render_said
from graph.rules.prov_export import TIME_FIELDS
from graph.rules.provenance import DEFAULT_DEPTH, MAX_DEPTH, ProvenanceEdge
from graph.services.knowledge.provenance import Provenance
from graph.services.knowledge.provenance_export import label_of
from graph.services.knowledge.views import CitationView
from graph.services.search.pages import BrowsePage
from graph.services.search.values import MemoryItem, SearchAnswer

A = TypeVar("A", bound=BaseModel)
Outside = Callable[[NodeId], str]
"""What a client sees of an internal id."""

MAX_ITEMS = 100
MAX_PAGE_TOKENS = 32_000
_EDGE_FIELDS = ("quote", "role")
_NODE_FIELDS = ("state", "version", "basis", "standing", "operation", "speaker")


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class SearchArguments(_Arguments):
    """Of the tool `search`."""

    query: Annotated[str, Field(min_length=1, max_length=1_000, description="What you want to know, in plain words.")]
    agent: Annotated[str, Field(description="Id or name of the agent whose knowledge it is, if you read several.")] = ""
    max_items: Annotated[int | None, Field(ge=1, le=MAX_ITEMS, description="At most so many results.")] = None
    max_tokens: Annotated[int | None, Field(ge=200, le=MAX_PAGE_TOKENS, description="Budget of all texts.")] = None


class BrowseArguments(_Arguments):
    """Of the tool `browse`."""

    ref: Annotated[str, Field(min_length=1, description="As search or trace gave it.")]
    after: Annotated[str | None, Field(description="`next` of the page before.")] = None
    before: Annotated[str | None, Field(description="`previous` of the page after.")] = None
    max_tokens: Annotated[int | None, Field(ge=1, le=MAX_PAGE_TOKENS, description="Size of a page.")] = None


class TraceArguments(_Arguments):
    """Of the tool `trace`."""

    ref: Annotated[str, Field(min_length=1, description="As search or browse gave it.")]
    direction: Annotated[
        Literal["upstream", "downstream"],
        Field(description="upstream: what it rests on, down to who said it; downstream: what rests on it."),
    ] = "upstream"
    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH, description="At most so many steps.")] = DEFAULT_DEPTH


def schema_of(shape: type[BaseModel]) -> dict[str, Any]:
    """Return the arguments of a tool as JSON Schema, in the plainest words: models read it."""
    made = shape.model_json_schema()
    fields = {name: _plain(field) for name, field in made["properties"].items()}
    return {
        "type": "object",
        "properties": fields,
        "required": made.get("required", []),
        "additionalProperties": False,
    }


def taken(shape: type[A], arguments: Mapping[str, Any]) -> A:
    """Return the arguments of a call in their shape.

    Raises:
        InvalidRequest: they do not fit; `path` names the argument.
    """
    try:
        return shape.model_validate(dict(arguments))
    except ValidationError as error:
        raise InvalidRequest(advice_of(error), path=path_of(error, dict(arguments))) from None


def found_json(answer: SearchAnswer, outside: Outside) -> dict[str, Any]:
    """Return what a search found, best first."""
    return {
        "items": [_item(item, outside) for item in answer.items],
        "total_tokens": answer.total_tokens,
        "routes_skipped": [{"route": skip.route, "reason": skip.reason} for skip in answer.routes_skipped],
    }


def page_json(page: BrowsePage, outside: Outside) -> dict[str, Any]:
    """Return one page of a longer text."""
    return {
        "ref": outside(page.ref),
        "text": page.text,
        "next": page.next,
        "previous": page.previous,
        "sources": _cited(page.sources, outside),
    }


def trace_json(found: Provenance, outside: Outside) -> dict[str, Any]:
    """Return a walk: the nodes nearest first, and the links between them as they are stored."""
    return {
        "root": outside(found.root.id),
        "nodes": [_node(node, outside) for node in found.nodes],
        "links": [_link(edge, outside) for edge in found.edges],
        "truncated": found.truncated,
    }


def _item(item: MemoryItem, outside: Outside) -> dict[str, Any]:
    return {
        "ref": outside(item.ref),
        "kind": str(item.kind),
        "text": item.text,
        "time": render(item.time),
        "standing": item.standing,
        "authority": item.authority,
        "stale": item.stale,
        "truncated": item.truncated,
        "sources": _cited(item.sources, outside),
    }


def _cited(views: Iterable[CitationView], outside: Outside) -> list[dict[str, Any]]:
    return [
        {
            "ref": outside(view.source.id),
            "kind": view.source.kind,
            "title": view.source.title,
            "speaker": view.source.speaker or None,
            "said_at": render_said(view.source.occurred_at, view.source.said_offset),
            "quote": view.quote,
        }
        for view in views
    ]


def _node(node: Node, outside: Outside) -> dict[str, Any]:
    kind = node.kind if isinstance(node, Source) else None
    fields = {name: value for name in _NODE_FIELDS if (value := getattr(node, name, None)) not in (None, "")}
    times = {name: render(Millis(at)) for name in TIME_FIELDS if (at := getattr(node, name, None)) is not None}
    return {
        "ref": outside(node.id),
        "type": type(node).__name__,
        **({"kind": kind} if kind else {}),
        "label": label_of(node),
        **fields,
        **times,
    }


def _link(step: ProvenanceEdge, outside: Outside) -> dict[str, Any]:
    edge = step.edge
    props = {name: edge.props[name] for name in _EDGE_FIELDS if edge.props.get(name)}
    return {"from": outside(edge.source), "to": outside(edge.target), "type": str(edge.type), **props}


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an argument without its title, and of an optional one as if it were given."""
    given: dict[str, Any] = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), {})
    kept = {name: value for name, value in schema.items() if name not in ("title", "anyOf") and value is not None}
    return {**given, **kept}
