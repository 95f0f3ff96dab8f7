"""`rootward ask`, `trace` and `compare`: what is known about a question, by whom it was said, and who sees it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from api.cli import places
from api.cli.exits import ServerRefused
from api.cli.given import Chosen
from api.cli.link import Link, linked
from api.cli.words import CITED, citation, day, why_hidden
from graph.model.errors import NotFound

OWNERS = "{ viewer { id displayName } owners(first: 100) { edges { node { id displayName } } } }"
SEARCH = """
query($query: String!, $owner: ID!, $most: Int) {
  memorySearch(input: {query: $query, ownerId: $owner, maxItems: $most}) {
    items { ref kind text time }
  }
}"""
ENTRY = """
query($id: ID!) {
  entry(id: $id) {
    id name type
    blocks { current {
      id text standing stale modifierKind recordedAt
      citations { ...cited }
      derivedFrom { __typename id ... on BlockVersion { text citations { ...cited } } }
    } }
  }
}"""
SEES = "query($id: ID!) { node(id: $id) { id } }"
WHY = """
query($id: ID!, $viewer: ID!) {
  explainVisibility(id: $id, viewerId: $viewer) { visible failure { reason to } nodes { id rules { kind } } }
}"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asker:
    """Somebody who asks an agent's knowledge."""

    link: Link
    token: str
    id: str
    name: str
    owner: str
    owner_name: str

    async def search(self, question: str, most: int) -> dict[str, Any]:
        """Return what a search finds for him."""
        found = await self.link.run(SEARCH, token=self.token, query=question, owner=self.owner, most=most)
        return dict(found["memorySearch"])

    async def entry(self, id_: str) -> dict[str, Any]:
        """Return an entry with its statements and their citations, as he sees them."""
        return dict((await self.link.run(ENTRY + CITED, token=self.token, id=id_))["entry"])


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """One thing that a search showed: a statement of an entry, or a message."""

    id: str
    text: str


async def ask(
    chosen: Chosen, question: str, *, who: str | None, agent: str, trace: bool, most: int, out: Console
) -> None:
    """Print what is known about a question; with `trace` also who said what it rests on."""
    async with linked(chosen) as link:
        asker = await asker_of(link, who, agent)
        found = await asker.search(question, most)
        out.print(f"{asker.name} asks {asker.owner_name}: {question}")
        if not found["items"]:
            out.print("\nNothing that you may see answers this.")
        for number, item in enumerate(found["items"], start=1):
            out.print("")
            lines = await _traced(asker, item) if trace else item["text"].splitlines()
            out.print("\n".join(_numbered(number, lines)))


async def compare(
    chosen: Chosen, question: str, *, first: str, second: str, agent: str, most: int, out: Console
) -> None:
    """Print what two people see of the same question, and why one does not see what the other does."""
    async with linked(chosen) as link:
        one, other = await asker_of(link, first, agent), await asker_of(link, second, agent)
        out.print(f"{one.name} and {other.name} ask {one.owner_name}: {question}")
        mine, theirs = await _statements(one, question, most), await _statements(other, question, most)
        both = [s for s in mine if await _sees(other, s)]
        out.print("\nBoth see:")
        _list(out, [s.text for s in both])
        for viewer, blind, shown in ((one, other, mine), (other, one, theirs)):
            only = [s for s in shown if not await _sees(blind, s)]
            out.print(f"\nOnly {viewer.name} sees:")
            _list(out, [f"{s.text}\n    hidden from {blind.name}: {await _why(link, s, blind)}" for s in only])


def _list(out: Console, lines: Sequence[str]) -> None:
    out.print("\n".join(f"  • {line}" for line in lines) if lines else "  nothing")


async def asker_of(link: Link, who: str | None, agent: str) -> Asker:
    """Return who asks, and whose knowledge: the agent of this name, or the only one that he reads.

    Raises:
        NotFound: he reads no agent's knowledge, or none of this name.
    """
    token = link.token(who)
    found = await link.run(OWNERS, token=token)
    owners = [edge["node"] for edge in found["owners"]["edges"]]
    fitting = [
        owner for owner in owners if agent in ("", owner["id"]) or owner["displayName"].casefold() == agent.casefold()
    ]
    if not fitting:
        raise NotFound(
            "there is no agent of this name whose knowledge you read" if agent else "you read no agent's knowledge"
        )
    if len(fitting) > 1:
        raise NotFound(f"you read the knowledge of {len(fitting)} agents: name one with --agent")
    viewer = found["viewer"]
    return Asker(
        link=link,
        token=token,
        id=viewer["id"],
        name=viewer["displayName"],
        owner=fitting[0]["id"],
        owner_name=fitting[0]["displayName"],
    )


async def _statements(asker: Asker, question: str, most: int) -> list[Statement]:
    """Return what a search shows somebody, statement by statement."""
    found: list[Statement] = []
    for item in (await asker.search(question, most))["items"]:
        if item["kind"] != "ENTRY":
            found.append(Statement(id=item["ref"], text=_first_line(item)))
            continue
        entry = await asker.entry(item["ref"])
        current = [block["current"] for block in entry["blocks"] if block["current"]]
        found += [Statement(id=version["id"], text=version["text"]) for version in current]
    return found


async def _sees(asker: Asker, statement: Statement) -> bool:
    return (await asker.link.run(SEES, token=asker.token, id=statement.id))["node"] is not None


async def _why(link: Link, statement: Statement, blind: Asker) -> str:
    """Return why somebody does not see a statement, as the admin or auditor whose token lies here is told."""
    for someone in places.signed(link.chosen.settings.data_dir):
        if someone.token == blind.token:
            continue
        with suppress(ServerRefused):  # a token that is no longer valid: ask the next
            found = await link.run(WHY, token=someone.token, id=statement.id, viewer=blind.id)
            proof = found["explainVisibility"]
            if proof is not None and not proof["visible"]:
                return why_hidden(proof)
    return why_hidden(None)


async def _traced(asker: Asker, item: dict[str, Any]) -> list[str]:
    """Return an item with each of its statements, and under each the words it rests on."""
    if item["kind"] != "ENTRY":
        return [_first_line(item)]
    entry = await asker.entry(item["ref"])
    lines = [f"{entry['name']} ({entry['type']})"]
    for block in entry["blocks"]:
        if block["current"]:
            lines += _statement(block["current"])
    return lines


def _statement(version: dict[str, Any]) -> list[str]:
    stale = ", stale" if version["stale"] else ""
    lines = [f"• {version['text']} [{version['standing'].lower()}{stale}]"]
    if version["modifierKind"] == "DREAMING":
        lines.append(f"  learned while dreaming, {day(version['recordedAt'])}")
    lines += [f"  ↳ {citation(cited)}" for cited in version["citations"]]
    for basis in version["derivedFrom"]:
        if basis["__typename"] == "BlockVersion":
            lines.append(f"  ↳ concluded from: {basis['text']}")
            lines += [f"    ↳ {citation(cited)}" for cited in basis["citations"]]
    return lines


def _first_line(item: dict[str, Any]) -> str:
    """Return a message or another source: who said it and when, and how it begins."""
    first = item["text"].splitlines()[0] if item["text"] else ""
    cut = first if len(first) <= 200 else f"{first[:199]}…"
    return f"{cut} ({item['kind'].lower()}, {day(item['time'])})"


def _numbered(number: int, lines: Sequence[str]) -> list[str]:
    head = f"{number}. "
    return [f"{head if at == 0 else ' ' * len(head)}{line}" for at, line in enumerate(lines)]
