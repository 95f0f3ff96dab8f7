"""The first call of a batch: summaries and indexes are browsed, the model says what to open (DR-35, DR-36)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import log

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from dreaming.curation import read_as_base
from dreaming.curation.asking import guide_text
from dreaming.curation.names import Names
from dreaming.curation.quoting import as_text, entry_head, episode_line, index_line
from dreaming.curation.reading import check_prompt
from dreaming.models.port import ChatMessage, ModelRequest, Role
from dreaming.prompts import load_prompt
from dreaming.stage_b.select import Selected
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Episode
from graph.model.nodes.knowledge import Entry, KbKind
from graph.model.nodes.learning import Skill
from graph.rules.stage_b import Choice, faults_of
from graph.services.access.session import Session
from graph.services.knowledge.entries import entry_views
from graph.services.knowledge.guide import curation_guide
from graph.services.learning.learned import enabled_skills
from graph.services.learning.skills import skills_of
from graph.store.query import Eq, Find, Match, Matches, Newest, TextIndex
from graph.text.words import analyze

PURPOSE = "stage_b.select"
MAX_ENTRIES = 150
"""So many entries are shown to choose from: those whose words the items have, then those changed last."""
MAX_MATCHED = 100
MAX_WORDS = 400
_ENTRY_PARTS = ("name", "alias", "summary", "block")


class Skipped(BaseModel):
    """An item that is not opened, and why."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    item: str
    reason: str = Field(max_length=1_000)


class ChoiceShape(BaseModel):
    """What a model answers to the first call."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    expand: list[str]
    entries: list[str]
    skills: list[str]
    skip: list[Skipped]

    def choice(self) -> Choice:
        """Return the answer as a value."""
        return Choice(
            expand=tuple(self.expand),
            entries=tuple(self.entries),
            skills=tuple(self.skills),
            skip=tuple(skipped.item for skipped in self.skip),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Index:
    """What the first call shows.

    Attributes:
        items: names of the items of the batch.
        entries: names of the entries.
        skills: slugs of the enabled Skills.
        shown: ids of everything whose content is in the text.
    """

    text: str
    guide: str
    names: Names
    items: frozenset[str]
    entries: frozenset[str]
    skills: frozenset[str]
    shown: tuple[NodeId, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """What is to be opened, by ids."""

    expand: tuple[NodeId, ...] = ()
    entries: tuple[NodeId, ...] = ()
    skills: tuple[str, ...] = ()


async def browse(session: Session, selected: Selected) -> Index:
    """Return the index of a batch: its items, the entries and Skills that its base reads."""
    base = selected.base
    read_as_base(session, base)
    names, sections, nodes = Names(), _Sections(), []
    for item in selected.items:
        node = selected.nodes[item.item_id]
        nodes.append(node)
        if isinstance(node, Episode):
            sections.add("Items", as_text(episode_line(node, names, messages=len(selected.messages[node.id]))))
        else:
            sections.add("Items", as_text(index_line(node, names, session.deps.tokenizer)))
    items = frozenset(names.of(item.item_id) for item in selected.items)
    views = await entry_views(session, await _entries(session, selected))
    for view in sorted(views.values(), key=lambda view: (view.name, view.id)):
        pool = await session.base(view.pool)
        scope = "this" if view.pool == base.id else str(KbKind(pool.kind)) if pool else ""
        sections.add("Entries", as_text(entry_head(view, names, scope)))
    skills = await _skills(session, selected)
    for skill in skills:
        sections.add("Skills", as_text({"skill": skill.slug, "name": skill.name}))
    guide = await curation_guide(session, base.owner_id)
    opened = await session.open(list(views))
    await check_prompt(session, base, [*nodes, *opened.values(), *([guide] if guide else [])])
    return Index(
        text=sections.text(),
        guide=guide.text if guide else "",
        names=names,
        items=items,
        entries=frozenset(names.of(id_) for id_ in views),
        skills=frozenset(skill.slug for skill in skills),
        shown=tuple(sorted({*selected.item_ids, *views})),
    )


def index_request(index: Index, *, agent: str, scope: str) -> ModelRequest:
    """Return the question what to open."""
    prompt = load_prompt("stage_b_select")
    told = f"Agent: {agent}\nKnowledge base: {scope}\n\n{index.text}"
    system = "\n\n".join(part for part in (prompt.text, guide_text(index.guide)) if part)
    return ModelRequest(
        purpose=PURPOSE,
        prompt=prompt.id,
        messages=(ChatMessage(role=Role.SYSTEM, text=system), ChatMessage(role=Role.USER, text=told)),
        schema=ChoiceShape.model_json_schema(),
        source_ids=index.shown,
    )


def choice_for(index: Index) -> type[ChoiceShape]:
    """Return the form of an answer about an index; one that names what is not in it does not have it (DR-36)."""

    class Checked(ChoiceShape):
        @model_validator(mode="after")
        def _names_what_was_shown(self) -> Checked:
            faults = faults_of(self.choice(), items=index.items, entries=index.entries, skills=index.skills)
            if faults:
                raise PydanticCustomError("names", "{faults}", {"faults": "; ".join(faults)})
            return self

    return Checked


def chosen_by(index: Index, choice: Choice) -> Chosen:
    """Return what an answer chose, in the order of showing; an item that is opened and skipped is opened."""
    ids = index.names.ids
    order = list(ids)
    return Chosen(
        expand=tuple(ids[name] for name in order if name in choice.expand),
        entries=tuple(ids[name] for name in order if name in choice.entries),
        skills=tuple(sorted(set(choice.skills))),
    )


@dataclass(kw_only=True, slots=True)
class _Sections:
    lines: dict[str, list[str]] = field(default_factory=dict)

    def add(self, title: str, line: str) -> None:
        self.lines.setdefault(title, []).append(line)

    def text(self) -> str:
        return "\n\n".join(f"## {title}\n" + "\n".join(lines) for title, lines in self.lines.items())


async def _skills(session: Session, selected: Selected) -> list[Skill]:
    enabled = await enabled_skills(session.reader, selected.base.owner_id)
    return [skill for skill in await skills_of(session) if skill.id in enabled]


async def _entries(session: Session, selected: Selected) -> list[NodeId]:
    """Return entries to choose from: those that share rare words with the items, then those changed last."""
    newest = Find(kind=Entry, where=Eq("deleted_at", None), order=Newest(), first=MAX_ENTRIES)
    last = [entry.id for entry in (await session.page(newest)).nodes]
    if len(last) < MAX_ENTRIES:
        return sorted(last)
    return sorted(list(dict.fromkeys([*await _matched(session, selected), *last]))[:MAX_ENTRIES])


async def _matched(session: Session, selected: Selected) -> list[NodeId]:
    words = Counter(word for text in _texts(selected) for word in analyze(text))
    telling = tuple(sorted(word for word, _ in words.most_common(MAX_WORDS)))
    if not telling:
        return []
    question = Match(index=TextIndex.ENTRY, words=telling, parts=_ENTRY_PARTS)
    found = await session.reader.match(session.viewer, question)
    weights = _weights(found)
    return sorted(weights, key=lambda id_: (-weights[id_], id_))[:MAX_MATCHED]


def _texts(selected: Selected) -> Iterable[str]:
    for item in selected.items:
        node = selected.nodes[item.item_id]
        if isinstance(node, Episode):
            yield from (node.topic, node.summary)
        else:
            yield f"{node.title or ''} {node.text[:2_000]}"


def _weights(found: Matches) -> Mapping[NodeId, float]:
    """Return how telling the words are that each entry shares with the items: a word counts once an entry."""
    shared: dict[NodeId, set[str]] = {}
    for hit in found.hits:
        shared.setdefault(hit.item, set()).update(word for word, count in hit.counts.items() if count)
    return {id_: _worth(words, found.df, found.total) for id_, words in shared.items()}


def _worth(words: Iterable[str], df: Mapping[str, int], total: int) -> float:
    return sum(log(1 + total / max(df.get(word, 1), 1)) for word in sorted(words))
