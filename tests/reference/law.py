"""The law of visibility once more, as naively as it can be said: the yardstick for `graph.rules.visibility`.

Written from docs/design.md#the-law-of-visibility alone, over plain dicts, by asking every node again and again
until nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graph.model.access import Guard, LawEdge, Rule, RuleKind, Viewer


def naive_law(guards: Iterable[Guard], edges: Iterable[LawEdge], viewer: Viewer) -> set[str]:
    """Return the ids that `viewer` may read."""
    nodes: dict[str, dict[str, Any]] = {guard.node: _plain(guard) for guard in guards}
    links = [{"of": e.source, "to": e.target, "end": e.ends, "record": e.record} for e in edges]
    shown: set[str] = set()
    while True:
        again: set[str] = {n for n in nodes if _shown(n, nodes, links, viewer, shown)}
        if again == shown:
            return shown
        shown = again


def _plain(guard: Guard) -> dict[str, Any]:
    return {
        "need": guard.need.value,
        "rules": guard.rules,
        "hidden": not guard.live,
        "off": guard.excluded,
        "held": guard.held,
    }


def _shown(
    n: str, nodes: dict[Any, dict[str, Any]], links: list[dict[str, Any]], viewer: Viewer, shown: set[str]
) -> bool:
    node = nodes[n]
    if node["hidden"] or viewer.principal in node["off"] or node["rules"] is None:
        return False
    if node["need"] in ("source", "none") and not node["rules"]:
        return False
    if not all(_passes(viewer, rule) for rule in node["rules"]):
        return False
    if node["need"] == "source":
        return True
    mine = [link for link in links if link["of"] == n]
    good = [link for link in mine if _good(link, nodes, viewer, shown)]
    if any(link["end"] and link not in good for link in mine):
        return False
    sources = [link for link in mine if not link["end"]]
    if node["need"] == "none":
        return True
    if node["need"] == "any":
        return any(link in good for link in sources)
    return bool(sources) and all(link in good for link in sources)


def _good(link: dict[str, Any], nodes: dict[Any, dict[str, Any]], viewer: Viewer, shown: set[str]) -> bool:
    target = nodes.get(link["to"])
    if target is None or link["record"] is None or not (target["held"] or link["end"]):
        return False
    if link["record"] and not all(_passes(viewer, rule) for rule in link["record"]):
        return False
    if link["record"] and target["need"] == "source":
        return not target["hidden"] and viewer.principal not in target["off"]
    return link["to"] in shown


def _passes(viewer: Viewer, rule: Rule) -> bool:
    """One rule holds for who holds it or may audit its agent; `for:` tags hold if any one of them does."""
    if rule.kind is RuleKind.FOR:
        return any(Rule(RuleKind.FOR, tag) in viewer.held for tag in rule.object_id.split(" "))
    return rule in viewer.held or (rule.agent != "" and not {rule.agent, "*"}.isdisjoint(viewer.audits))
