"""What an erasure makes unreadable for ever, and what is blanked of it. Pure.

A withdrawn source may come back, an erased one never does. So a statement that needs an erased source will never be
seen by anyone again, and nothing of its content is kept: the words of the source live on in it. Source: KN-81.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from graph.model.access import Guard, LawEdge, Need
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Episode
from graph.model.nodes.knowledge import Attribute, BlockVersion, Entry, EntryVersion, Facet, FacetField, RelationVersion
from graph.model.nodes.learning import Lesson, MemoLine
from graph.rules.audit_chain import ERASED
from graph.rules.embedding import NO_VECTOR


def lost_for_ever(
    erased: Iterable[NodeId], guards: Mapping[NodeId, Guard], edges: Iterable[LawEdge]
) -> frozenset[NodeId]:
    """Return `erased` and every statement that can never be readable again because of them.

    Args:
        erased: erased sources, those of earlier erasures among them.
        guards: of the statements in question and of all they rest on.
        edges: among these.
    """
    sources: dict[NodeId, set[NodeId]] = {}
    ends: dict[NodeId, set[NodeId]] = {}
    dependents: dict[NodeId, set[NodeId]] = {}
    for edge in edges:
        (ends if edge.ends else sources).setdefault(edge.source, set()).add(edge.target)
        dependents.setdefault(edge.target, set()).add(edge.source)
    lost = set(erased)
    waiting = list(lost)
    while waiting:
        for node in dependents.get(waiting.pop(), ()):
            guard = guards.get(node)
            if node not in lost and guard and _is_lost(guard.need, sources.get(node, set()), ends.get(node), lost):
                lost.add(node)
                waiting.append(node)
    return frozenset(lost)


@dataclass(frozen=True, kw_only=True, slots=True)
class Blanked:
    """What is set of a node in place of its content; `vector` if it had one."""

    fields: Mapping[str, Any]
    vector: bool = False


def blanked(node: Node) -> Blanked | None:
    """Return what a lost node keeps instead of its content; None for kinds that have none."""
    match node:
        case BlockVersion():
            fields: dict[str, Any] = {
                "text": ERASED,
                "condition": _if_there(node.condition),
                "conclusion": _if_there(node.conclusion),
                "reason": _if_there(node.reason),
            }
            return _with_vector(node, fields)
        case Episode():
            fields = {"topic": ERASED, "summary": ERASED, "questions": (), "conclusions": None, "systems": ()}
            return _with_vector(node, fields)
        case Facet():
            return Blanked(fields={"value": ERASED, "norm_value": ""})
        case EntryVersion():
            return Blanked(
                fields={"name": ERASED, "norm_name": "", "aliases": (), "summary": "", "reason": _if_there(node.reason)}
            )
        case Entry():
            return Blanked(fields={"name": ERASED, "live_name": None})
        case Attribute():
            return Blanked(fields={"value": ERASED})
        case RelationVersion():
            return Blanked(fields={"attributes": None, "reason": _if_there(node.reason)})
        case Lesson() | MemoLine():
            return Blanked(fields={"text": ERASED})
        case _:
            return None


def without_facets(version: EntryVersion, lost: Iterable[Facet]) -> Mapping[str, Any]:
    """Return the fields of a version of an entry that lives on, without the lost ones among its aliases and summary."""
    gone = list(lost)
    aliases = {facet.value for facet in gone if facet.field == FacetField.ALIAS}
    summaries = {facet.value for facet in gone if facet.field == FacetField.SUMMARY}
    fields: dict[str, Any] = {}
    if aliases.intersection(version.aliases):
        fields["aliases"] = tuple(alias for alias in version.aliases if alias not in aliases)
    if version.summary in summaries:
        fields["summary"] = ""
    return fields


def _is_lost(need: Need, sources: set[NodeId], ends: set[NodeId] | None, lost: set[NodeId]) -> bool:
    if ends and ends & lost:
        return True
    if need is Need.ALL:
        return bool(sources & lost)
    return need is Need.ANY and bool(sources) and sources <= lost


def _with_vector(node: BlockVersion | Episode, fields: dict[str, Any]) -> Blanked:
    return Blanked(
        fields={**fields, "embedding": None, "embedding_model": NO_VECTOR}, vector=node.embedding is not None
    )


def _if_there(text: str | None) -> str | None:
    return None if text is None else ERASED
