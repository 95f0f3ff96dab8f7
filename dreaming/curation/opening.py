"""Opens what one prompt shows: originals, the entries concerned, Skills, memo and guide, under the scope of one base.

Everything is read through a session that sees what the base reads (`read_as_base`) and is proved by the law. Opening
the same material again gives the same text unless something of it changed, which is how a commit notices that the
model's answer is about the past (DR-78). Source: DR-23, DR-35, DR-45, DR-60, MA-24, KN-54, KN-106.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dreaming.curation.names import Names
from dreaming.curation.quoting import (
    Line,
    as_text,
    attribute_line,
    block_line,
    entry_head,
    episode_line,
    fitted,
    hidden_line,
    memo_line,
    relation_line,
    skill_line,
    source_line,
)
from dreaming.curation.reading import check_prompt, read_as_base
from graph.model.fields import Node
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.evidence import Episode, Source
from graph.model.nodes.knowledge import KbKind, KnowledgeBase, Relation
from graph.model.nodes.learning import ResidentMemo, Skill
from graph.rules.operations.memo import memo_id
from graph.rules.operations.skills import overlay_id
from graph.services.access.session import Session
from graph.services.knowledge.blocks import blocks_of
from graph.services.knowledge.entries import attributes_of, entry_views
from graph.services.knowledge.guide import curation_guide
from graph.services.knowledge.relations import RelationDirection, at_entries, relation_views
from graph.services.knowledge.views import BlockView, EntryView, RelationView
from graph.services.learning.episode_messages import episode_messages
from graph.services.learning.learned import enabled_skills
from graph.services.learning.resident_memo import memo_views
from graph.services.learning.skills import LessonView, overlay_views_by_id, skills_of
from graph.services.learning.stage_b_hidden import HiddenBlock, hidden_blocks_of
from graph.services.settings import load_settings
from graph.store.query import Eq, Find, both

MAX_RELATIONS = 100
"""Most relations shown of the entries of one prompt."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What a prompt is to show.

    Attributes:
        episodes: their original messages are shown, in talk order, each once.
        sources: further raw sources, in this order.
        entries: shown whole, with blocks, attributes and relations.
        skills: slugs; of those that are enabled base text and lessons are shown.
        stretches: of a source in `sources` only the text from here to there.
        evidence_tokens: the originals take at most so many; what has no room is left out and can not be cited.
        knowledge_tokens: entries take at most so many; further blocks are left out.
    """

    episodes: tuple[NodeId, ...] = ()
    sources: tuple[NodeId, ...] = ()
    entries: tuple[NodeId, ...] = ()
    skills: tuple[str, ...] = ()
    stretches: Mapping[NodeId, tuple[int, int]] = field(default_factory=dict)
    evidence_tokens: int = 48_000
    knowledge_tokens: int = 24_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """What was opened for one prompt.

    Attributes:
        base: the only one that the answer may write.
        text: the quoted data, in sections.
        guide: what the people of the agent tell the model to do; empty if there is none.
        names: by which the model names things.
        evidence: raw sources of which words were shown, which alone may be cited (DR-45).
        hidden: blocks without a text, offered to be written anew (MA-24).
        mendable: those of them of which some evidence is left.
        shown: ids of everything whose content is in the text, for the erasure of saved answers.
    """

    base: KnowledgeBase
    wanted: Wanted
    text: str
    guide: str
    names: Names
    evidence: frozenset[NodeId]
    hidden: frozenset[NodeId]
    mendable: frozenset[NodeId]
    shown: tuple[NodeId, ...]


async def open_material(session: Session, base: KnowledgeBase, wanted: Wanted) -> Opened:
    """Return what the base may read of what is wanted; all else is left out without a trace.

    Raises:
        OperationRejected: ``SCOPE_FORBIDDEN``: what was read belongs to another base; it is a bug (KN-54).
    """
    read_as_base(session, base)
    page = _Page(session=session, base=base, wanted=wanted)
    await page.open_evidence()
    await page.open_entries()
    await page.open_skills()
    await page.open_memo()
    guide = await curation_guide(session, base.owner_id)
    await check_prompt(session, base, [*page.nodes.values(), *([guide] if guide else [])])
    return Opened(
        base=base,
        wanted=wanted,
        text=page.text(),
        guide=guide.text if guide else "",
        names=page.names,
        evidence=frozenset(id_ for id_ in page.names.ids.values() if prefix_of(id_) == Source.PREFIX) - page.unshown,
        hidden=frozenset(block.id for block in page.hidden),
        mendable=frozenset(block.id for block in page.hidden if block.left),
        shown=tuple(sorted({*page.nodes, *_sources_in(page.names)})),
    )


def _sources_in(names: Names) -> list[NodeId]:
    return [id_ for id_ in names.ids.values() if prefix_of(id_) == Source.PREFIX]


def _said(view: RelationView, titles: Mapping[NodeId, str]) -> tuple[str, str, str, NodeId]:
    node = view.node
    return titles.get(node.subject_id, ""), node.type, titles.get(node.object_id, ""), node.id


@dataclass(kw_only=True, slots=True)
class _Page:
    """The sections of one prompt while they are made."""

    session: Session
    base: KnowledgeBase
    wanted: Wanted
    names: Names = field(default_factory=Names)
    sections: dict[str, list[str]] = field(default_factory=dict)
    nodes: dict[NodeId, Node] = field(default_factory=dict)
    hidden: list[HiddenBlock] = field(default_factory=list)
    unshown: set[NodeId] = field(default_factory=set)

    def text(self) -> str:
        return "\n\n".join(f"## {title}\n" + "\n".join(lines) for title, lines in self.sections.items() if lines)

    def count(self, text: str) -> int:
        return self.session.deps.tokenizer.count(text)

    async def open_evidence(self) -> None:
        """Show the originals, episode by episode, then the other sources."""
        opened = await self.session.open([*self.wanted.episodes, *self.wanted.sources])
        talks = await episode_messages(self.session, [id_ for id_ in self.wanted.episodes if id_ in opened])
        left = self.wanted.evidence_tokens
        for id_ in (*self.wanted.episodes, *self.wanted.sources):
            node = opened.get(id_)
            if isinstance(node, Episode):
                left = self._talk(node, talks[id_], left)
            elif isinstance(node, Source):
                left = self._original(node, left)

    def _talk(self, episode: Episode, messages: Sequence[Source], left: int) -> int:
        self._put("Evidence", episode_line(episode, self.names, messages=len(messages)), episode)
        for message in messages:
            if message.id not in self.nodes:
                left = self._original(message, left)
        return left

    def _original(self, source: Source, left: int) -> int:
        start, end = self.wanted.stretches.get(source.id, (0, None))
        line = source_line(source, self.names, start=start, end=end)
        if left <= 0:
            self.unshown.add(source.id)
            self._put("Evidence", {"id": line["id"], "kind": source.kind, "leftOut": True}, source)
            return 0
        shown = fitted(line, self.session.deps.tokenizer, left)
        self.sections.setdefault("Evidence", []).append(shown)
        self.nodes[source.id] = source
        return left - self.count(shown)

    async def open_entries(self) -> None:
        """Show the entries with all that is believed of them, as far as there is room."""
        views = await entry_views(self.session, self.wanted.entries)
        self.nodes |= await self.session.open(list(views))
        blocks = await blocks_of(self.session, list(views))
        hidden = await hidden_blocks_of(self.session, self.base, list(views), blocks)
        attributes = await attributes_of(self.session, list(views))
        left = self.wanted.knowledge_tokens
        for id_, view in views.items():
            line = entry_head(view, self.names, await self._scope(view)) | {"version": view.version}
            line["attributes"] = [attribute_line(a, self.names) for a in attributes[id_]]
            left = self._body(line, blocks[id_], hidden.get(id_, ()), left)
            self.nodes |= {a.node.id: a.node for a in attributes[id_]}
            self._put("Entries", line)
        await self._relations(views)

    def _body(self, line: Line, blocks: Sequence[BlockView], hidden: Sequence[HiddenBlock], left: int) -> int:
        """Add the blocks of an entry to its line, those that nobody sees first, and return the room that is left."""
        shown: list[Line] = []
        for block in hidden:
            shown.append(hidden_line(block.id, block.version, block.left, self.names))
            self.hidden.append(block)
        for view in blocks:
            if view.current is None:
                continue
            made = block_line(view, self.names)
            left -= self.count(as_text(made))
            if left < 0:
                line["blocksLeftOut"] = int(line.get("blocksLeftOut", 0)) + 1
                continue
            shown.append(made)
            self.nodes |= {view.node.id: view.node, view.current.node.id: view.current.node}
        line["blocks"] = shown
        return left

    async def _relations(self, views: Mapping[NodeId, EntryView]) -> None:
        if not views:
            return
        where = both(at_entries(sorted(views), RelationDirection.BOTH, None), Eq("current", True))
        query = Find(kind=Relation, where=where, first=MAX_RELATIONS)
        found = await self.session.page(query)
        relations = await relation_views(self.session, [relation.id for relation in found.nodes])
        ends = {end for view in relations.values() for end in (view.node.subject_id, view.node.object_id)}
        others = await entry_views(self.session, sorted(ends))
        titles = {id_: view.name for id_, view in others.items()}
        for relation in sorted(relations.values(), key=lambda view: _said(view, titles)):
            self._put("Relations", relation_line(relation, self.names, titles), relation.node)

    async def open_skills(self) -> None:
        """Show the enabled Skills that are wanted, with the lessons that the base reads."""
        enabled = await enabled_skills(self.session.reader, self.base.owner_id)
        skills = [s for s in await skills_of(self.session) if s.id in enabled and s.slug in self.wanted.skills]
        overlays = {skill.id: overlay_id(skill.workspace, self.base.owner_id, skill.slug) for skill in skills}
        views = await overlay_views_by_id(self.session, sorted(overlays.values()))
        for skill in skills:
            view = views.get(overlays[skill.id])
            lessons = sorted(view.lessons if view else (), key=lambda one: (one.node.recorded_at, one.node.text))
            self._skill(skill, lessons)

    def _skill(self, skill: Skill, lessons: Sequence[LessonView]) -> None:
        self._put("Skills", skill_line(skill, lessons, self.names))
        self.nodes |= {view.node.id: view.node for view in lessons}

    async def open_memo(self) -> None:
        """Show the memo of the base that is written."""
        settings = await load_settings(self.session.reader, self.base.workspace, self.base.owner_id)
        id_ = memo_id(self.base.id)
        memo = (await self.session.open([id_])).get(id_)
        found = await memo_views(self.session, [memo], self.base.owner_id) if isinstance(memo, ResidentMemo) else []
        view = found[0] if found else None
        self._put("Memo", memo_line(view, settings["memo.kb_token_budget"], self.names))
        self.nodes |= {line.node.id: line.node for line in (view.lines if view else ())}

    async def _scope(self, view: EntryView) -> str:
        base = await self.session.base(view.pool)
        kind = KbKind(base.kind) if base else KbKind.AGENT
        return "this" if view.pool == self.base.id else str(kind)

    def _put(self, section: str, line: Line, node: Node | None = None) -> None:
        self.sections.setdefault(section, []).append(as_text(line))
        if node is not None:
            self.nodes[node.id] = node
