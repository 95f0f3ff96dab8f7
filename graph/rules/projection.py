r"""The Markdown of an entry that Agents read (KN-37, KN-38).

```
# Lin
person · aliases: "Lin Chen" · updated 2025-05-10T09:00:00.000Z

Engineer in the Berlin office.

## Facts

Likes barbecue [2023-06-01 to 2025-04] [^1]

Vegetarian [since 2025-04] [^2]

## Relations

- "Lin" member_of "Helio" [since 2024] [^3]

## Sources

[^1]: message, "Lin", 2023-06-03, c3Jj...
```

The same input gives the same bytes. What stands in brackets that are not escaped was written by the service:
validity, marks, footnotes. A part that has nothing to show is left out with its heading.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Standing
from graph.model.time import Millis, render
from graph.rules.markdown import heading, inline, paragraph, quoted
from graph.rules.validity import shown_day, shown_validity

MAX_RELATIONS = 500
"""Most relations shown; of more, one line says so."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownSource:
    """A source as its footnote names it: `title` is the speaker's name or the title, `shown_id` what clients use.

    `at` is what the clock showed where it was said, so that its day is the day that its words count from.
    """

    shown_id: str
    kind: str
    title: str
    at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownValidity:
    """When a statement holds in the world."""

    valid_from: Millis | None = None
    valid_to: Millis | None = None
    from_precision: str | None = None
    to_precision: str | None = None

    @property
    def text(self) -> str:
        """The same in words; empty if nothing is known."""
        return shown_validity(self.valid_from, self.valid_to, self.from_precision, self.to_precision)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownDeduction:
    """A conditional judgement: who made it and when (DR-58)."""

    condition: str
    conclusion: str
    by: str
    at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownBlock:
    """A block; `sources` are those it cites, of a deduction those behind its basis."""

    text: str
    standing: str
    sources: tuple[NodeId, ...]
    validity: ShownValidity = field(default_factory=ShownValidity)
    stale: bool = False
    deduction: ShownDeduction | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownRelation:
    """A relation between two entries by their names."""

    subject: str
    type: str
    object: str
    sources: tuple[NodeId, ...]
    validity: ShownValidity = field(default_factory=ShownValidity)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownEntry:
    """All that a projection shows, in its order."""

    name: str
    type: str
    aliases: tuple[str, ...]
    updated_at: Millis
    summary: str | None
    blocks: tuple[ShownBlock, ...]
    relations: tuple[ShownRelation, ...]
    sources: Mapping[NodeId, ShownSource]


def project(entry: ShownEntry) -> str:
    """Return the Markdown of an entry; it ends with a line break."""
    notes = _Footnotes()
    parts = [f"{heading(entry.name)}\n{_metadata(entry)}"]
    if entry.summary:
        parts.append(paragraph(entry.summary))
    parts += _section("Facts", [_fact(block, notes) for block in entry.blocks])
    parts += _section("Relations", ["\n".join(_relations(entry.relations, notes))] if entry.relations else [])
    parts += _section("Sources", ["\n".join(notes.lines(entry.sources))] if notes.numbers else [])
    return "\n\n".join(parts) + "\n"


def marks_of(validity: str, standing: str, *, stale: bool) -> list[str]:
    """Return what stands in brackets behind a fact: when it holds, and how it stands unless it is settled.

    >>> marks_of("since 2025-04", "disputed", stale=True), marks_of("", "settled", stale=False)
    (['[since 2025-04]', '[disputed, stale]'], [])
    """
    return [*_bracketed(validity), *_bracketed(_standing(standing, stale=stale))]


class _Footnotes:
    """Numbers sources in the order of their first use."""

    def __init__(self) -> None:
        self.numbers: dict[NodeId, int] = {}

    def marks(self, sources: Iterable[NodeId]) -> list[str]:
        """Return the marks of sources, each once, in ascending order."""
        return [f"[^{number}]" for number in sorted({self._number(source) for source in sources})]

    def lines(self, sources: Mapping[NodeId, ShownSource]) -> Iterator[str]:
        """Yield the line of every source that was used."""
        for id_, number in self.numbers.items():
            source = sources[id_]
            title = quoted(source.title) if source.title else "unknown"
            yield f"[^{number}]: {inline(source.kind)}, {title}, {shown_day(source.at)}, {source.shown_id}"

    def _number(self, source: NodeId) -> int:
        return self.numbers.setdefault(source, len(self.numbers) + 1)


def _section(title: str, paragraphs: list[str]) -> list[str]:
    return [heading(title, 2), *paragraphs] if paragraphs else []


def _metadata(entry: ShownEntry) -> str:
    aliases = ", ".join(map(quoted, entry.aliases))
    middle = [f"aliases: {aliases}"] if aliases else []
    return " · ".join([paragraph(entry.type), *middle, f"updated {render(entry.updated_at)}"])


def _fact(block: ShownBlock, notes: _Footnotes) -> str:
    marks = notes.marks(block.sources)
    text = paragraph(block.text)
    if block.deduction is not None:
        text, marks = _deduction(block.deduction, marks), []
    words = [text, *marks_of(block.validity.text, block.standing, stale=block.stale), "".join(marks)]
    return " ".join(word for word in words if word)


def _deduction(deduction: ShownDeduction, marks: list[str]) -> str:
    words = f"If {inline(deduction.condition)}: {inline(deduction.conclusion)}"
    basis = f"; basis {', '.join(marks)}" if marks else ""
    return f"{words} ({inline(deduction.by)}, {shown_day(deduction.at)}{basis})"


def _standing(standing: str, *, stale: bool) -> str:
    marks = [] if standing == Standing.SETTLED else [standing]
    return ", ".join([*marks, "stale"] if stale else marks)


def _relations(relations: tuple[ShownRelation, ...], notes: _Footnotes) -> Iterator[str]:
    for relation in relations[:MAX_RELATIONS]:
        words = f"- {quoted(relation.subject)} {relation.type} {quoted(relation.object)}"
        marks = "".join(notes.marks(relation.sources))
        yield " ".join([words, *_bracketed(relation.validity.text), *([marks] if marks else [])])
    if len(relations) > MAX_RELATIONS:
        yield "- … [more relations than are shown here]"


def _bracketed(text: str) -> list[str]:
    return [f"[{text}]"] if text else []
