"""`rootward withdraw` and `return`: what vanishes with a source and why, what stays, and everything back again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from api.cli import places
from api.cli.asking import WHY
from api.cli.given import Chosen
from api.cli.link import Link, linked
from api.cli.words import CITED, citation, day, why_hidden
from graph.model.errors import NotFound

SOURCE = """
query($id: ID!) {
  viewer { id displayName }
  node(id: $id) { ... on Source { id kind title speakerName occurredAt } }
}"""
RESTING = """
query($id: ID!) { provenance(id: $id, depth: 10, direction: DOWNSTREAM) { truncated nodes { __typename id } } }"""
SHOWN = """
  ... on BlockVersion { text invalidatedAt citations { ...cited } }
  ... on Relation { type invalidatedAt subject { name } object { name } evidence { ...cited } }
  ... on Facet { field value invalidatedAt }"""
STATEMENTS = frozenset({"BlockVersion", "Relation", "Facet"})
WITHDRAW = "mutation($id: ID!, $reason: String) { withdrawSource(id: $id, reason: $reason) { txId } }"
RETURN = "mutation($id: ID!, $reason: String) { returnSource(id: $id, reason: $reason) { txId } }"
_AT_ONCE = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Onlooker:
    """Who watches what happens."""

    link: Link
    token: str
    id: str
    name: str


async def withdraw(chosen: Chosen, ref: str, *, who: str | None, reason: str, restore: bool, out: Console) -> None:
    """Withdraw a source, print what vanishes and why and what stays; with `restore` take it back at the end."""
    async with linked(chosen) as link:
        source_id = resolved(chosen, ref)
        admin = link.token()
        watcher, source = await _look(link, link.token(who or _somebody(chosen)), source_id)
        before = await _resting(watcher, source_id)
        await link.run(WITHDRAW, token=admin, id=source_id, reason=reason)
        try:
            out.print(f"Withdrawn: {_described(source)}")
            await _tell(watcher, admin, before, out)
        finally:
            if restore:
                await link.run(RETURN, token=admin, id=source_id, reason="the end of a try")
        if restore:
            back = await _visible(watcher, [node["id"] for node in before])
            out.print(f"\nRestored: {len(back)} of {len(before)} are there again.")
        else:
            out.print(f"\nTake it back with: rootward return {ref}")


async def give_back(chosen: Chosen, ref: str, *, reason: str, out: Console) -> None:
    """Take a withdrawn source back."""
    async with linked(chosen) as link:
        await link.run(RETURN, token=link.token(), id=resolved(chosen, ref), reason=reason)
        out.print("Restored: the source supports what rests on it again.")


def resolved(chosen: Chosen, ref: str) -> str:
    """Return the global id that a name of the sample, such as ``document:lab-report``, stands for, or `ref` itself."""
    return str(places.read_sample(chosen.settings.data_dir)["ids"].get(ref, ref))


def _somebody(chosen: Chosen) -> str:
    """Return who watches if nobody is named: the first person of the sample, else the admin."""
    people = [one.key for one in places.signed(chosen.settings.data_dir) if one.key != places.ADMIN]
    return people[0] if people else places.ADMIN


async def _look(link: Link, token: str, source_id: str) -> tuple[Onlooker, dict[str, Any]]:
    found = await link.run(SOURCE, token=token, id=source_id)
    if not found["node"]:
        raise NotFound("there is no such source for the one who watches: name another with --as")
    viewer = found["viewer"]
    return Onlooker(link=link, token=token, id=viewer["id"], name=viewer["displayName"]), found["node"]


async def _resting(watcher: Onlooker, source_id: str) -> list[dict[str, Any]]:
    """Return the present statements that rest on a source, as the onlooker sees them."""
    graph = (await watcher.link.run(RESTING, token=watcher.token, id=source_id))["provenance"]
    ids = [node["id"] for node in graph["nodes"] if node["__typename"] in STATEMENTS]
    return [node async for node in _nodes(watcher, ids) if node["invalidatedAt"] is None]


async def _visible(watcher: Onlooker, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    return {node["id"]: node async for node in _nodes(watcher, ids)}


async def _nodes(watcher: Onlooker, ids: Sequence[str]) -> AsyncIterator[dict[str, Any]]:
    for start in range(0, len(ids), _AT_ONCE):
        part = ids[start : start + _AT_ONCE]
        names = "\n".join(f"n{at}: node(id: $i{at}) {{ __typename id {SHOWN} }}" for at in range(len(part)))
        given = ", ".join(f"$i{at}: ID!" for at in range(len(part)))
        variables = {f"i{at}": id_ for at, id_ in enumerate(part)}
        found = await watcher.link.run(f"query({given}) {{ {names} }}{CITED}", token=watcher.token, **variables)
        for node in found.values():
            if node is not None:
                yield node


async def _tell(watcher: Onlooker, admin: str, before: Sequence[dict[str, Any]], out: Console) -> None:
    after = await _visible(watcher, [node["id"] for node in before])
    gone = [node for node in before if node["id"] not in after]
    out.print(f"\n{watcher.name} no longer sees:")
    for node in gone:
        found = await watcher.link.run(WHY, token=admin, id=node["id"], viewer=watcher.id)
        out.print(f"  • {_line(node)}\n    {why_hidden(found['explainVisibility'])}")
    if not gone:
        out.print("  nothing is gone")
    kept = [after[node["id"]] for node in before if node["id"] in after]
    if kept:
        out.print("\nStays, for it rests on something else too:")
        out.print("\n".join(_kept(kept)))


def _kept(nodes: Iterable[dict[str, Any]]) -> list[str]:
    lines = []
    for node in nodes:
        lines.append(f"  • {_line(node)}")
        lines += [f"    ↳ {citation(cited)}" for cited in node.get("evidence") or node.get("citations") or ()]
    return lines


def _line(node: dict[str, Any]) -> str:
    match node["__typename"]:
        case "Relation":
            return f"{node['subject']['name']} {node['type'].replace('_', ' ')} {node['object']['name']}"
        case "Facet":
            return f"{node['field'].lower()}: {node['value']}"
        case _:
            return str(node["text"])


def _described(source: dict[str, Any]) -> str:
    if source["title"]:
        return f"{source['kind'].lower()} “{source['title']}”"
    return f"{source['kind'].lower()} of {source['speakerName'] or 'somebody'}, {day(source['occurredAt'])}"
