"""Which GraphQL type shows a node of the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from api.graphql.types.evidence import Channel, Conversation, Episode, Source, Thread
from api.graphql.types.knowledge import Entry
from api.graphql.types.node import Node
from api.graphql.types.people import KnowledgeBase, Principal
from graph.model import fields
from graph.model.nodes import evidence, knowledge, people

FROM_DOMAIN: Mapping[type[fields.Node], Callable[[Any], Node]] = {
    people.Principal: Principal.from_domain,
    knowledge.KnowledgeBase: KnowledgeBase.from_domain,
    knowledge.Entry: Entry.from_domain,
    evidence.Channel: Channel.from_domain,
    evidence.Conversation: Conversation.from_domain,
    evidence.Thread: Thread.from_domain,
    evidence.Source: Source.from_domain,
    evidence.Episode: Episode.from_domain,
}

NODE_TYPES: tuple[type[Node], ...] = (Principal, KnowledgeBase, Entry, Channel, Conversation, Thread, Source, Episode)


def as_node(node: fields.Node | None) -> Node | None:
    """Return a node as clients see it; None for kinds that are never shown."""
    make = None if node is None else FROM_DOMAIN.get(type(node))
    return None if make is None else make(node)
