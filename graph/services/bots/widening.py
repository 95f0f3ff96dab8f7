"""Whether an entry may be shown to more people: by the rules of all it rests on, read without content.

Source: BM-51 to BM-53.
"""

from __future__ import annotations

from collections.abc import Iterable

from graph.model.access import Guard, Need, Rule, RuleKind
from graph.model.edges import LAW_EDGES, Edge, EdgeType
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.bots import BotEntry
from graph.rules.bot_tags import audience_rule, may_widen
from graph.services.access.members import members_of
from graph.store.port import Reader
from graph.store.query import Direction

_FOR_PERSON = "person:"


async def may_share(reader: Reader, entry: BotEntry, tag: str) -> bool:
    """Return whether every item and pinned entry that an entry rests on admits the whole new audience.

    No reason, instruction or ownership changes the answer (BM-52). Call it under the lock of the pool.

    Args:
        reader: the transaction of the change.
        entry: the one to be shared.
        tag: the `for:` tag that would be added.
    """
    rules = await reached_rules(reader, entry.id)
    audience = audience_rule(entry.workspace, entry.bot_id, tag)
    return may_widen(rules, audience, await _groups(reader, rules, audience))


async def reached_rules(reader: Reader, entry: NodeId) -> list[Rule | None]:
    """Return the rules of all items and pinned entries reached through all sources; None is a missing proof.

    An entry that names no source, or one that is not there, gives a missing proof too.
    """
    reached = await reader.closure([entry], LAW_EDGES, Direction.OUT)
    guards = await reader.guards(list(reached.depths))
    ends = {edge.source for edge in reached.edges}
    of_entries = (_of_entry(guards.get(node), node in ends) for node in reached.depths if _is_entry(node))
    of_items = (rule for edge in reached.edges for rule in _of_link(edge))
    return [*(rule for rules in of_entries for rule in rules), *of_items]


def _is_entry(node: NodeId) -> bool:
    return prefix_of(node) == BotEntry.PREFIX


def _of_entry(guard: Guard | None, has_sources: bool) -> Iterable[Rule | None]:
    """Return the own rule of a pinned entry; a missing entry or one without sources proves nothing."""
    if guard is not None and guard.need is Need.NONE:
        return [_owner(guard)]
    return [] if guard is not None and has_sources else [None]


def _owner(guard: Guard) -> Rule | None:
    for rule in guard.rules or ():
        if rule.kind is RuleKind.FOR and rule.object_id.startswith(_FOR_PERSON) and len(rule.alternatives()) == 1:
            return Rule(RuleKind.PERSON, rule.object_id.removeprefix(_FOR_PERSON))
    return None


def _of_link(edge: Edge) -> Iterable[Rule | None]:
    if edge.type is not EdgeType.CITES:
        return [None] if edge.record is None else []
    return [None] if not edge.record else [Rule.decode(text) for text in edge.record]


async def _groups(reader: Reader, rules: Iterable[Rule | None], audience: Rule) -> frozenset[NodeId]:
    """Return the groups among the rules that the person of an audience is a member of now."""
    if audience.kind is not RuleKind.PERSON:
        return frozenset()
    groups = {NodeId(rule.object_id) for rule in rules if rule is not None and rule.kind is RuleKind.CHANNEL}
    return frozenset({group for group in groups if audience.object_id in await members_of(reader, group)})
