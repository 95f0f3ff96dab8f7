"""Citations: whether the source may be cited here, and whether the quote stands in it.

Source: KN-53, KN-68 to KN-70, DR-5, DR-23, DR-40 to DR-48, DR-63.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from graph.model.errors import OperationRejected
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.evidence import Episode, Source, SourceKind
from graph.model.nodes.knowledge import (
    Attribute,
    Block,
    BlockVersion,
    Entry,
    EntryVersion,
    Facet,
    Relation,
    RelationVersion,
)
from graph.model.nodes.learning import Lesson, MemoLine, ResidentMemo, Skill
from graph.rules.operations.drafting import note
from graph.rules.operations.limits import PRACTICE
from graph.rules.operations.schema_parts import CitationIn
from graph.rules.operations.schema_values import Role
from graph.rules.operations.state import Cited, Support
from graph.rules.operations.verdicts import refuse
from graph.rules.operations.work import Work
from graph.rules.scopes import evidence_allowed
from graph.rules.staleness import CitedVersion, outdated
from graph.text.quotes import Quote, QuoteRefusal, content_key, find_quote, normalise_source

_STATEMENTS: Final = frozenset(
    kind.PREFIX for kind in (Attribute, Block, BlockVersion, Entry, EntryVersion, Facet, Relation, RelationVersion)
) | {
    Lesson.PREFIX,
    MemoLine.PREFIX,
    ResidentMemo.PREFIX,
    Skill.PREFIX,
}
"""Kinds of what is believed: never evidence, whoever wrote it (DR-5)."""


def not_found() -> OperationRejected:
    """Return the one answer for what is missing and for what the actor may not see (DR-44)."""
    return refuse("EVIDENCE_NOT_FOUND", "name only what exists and can be read here")


def check_citations(
    work: Work, given: Sequence[CitationIn], *, entry_type: str, already: Support | None = None
) -> tuple[Cited, ...]:
    """Return the citations with the places of their quotes, each once.

    Args:
        work: the working copy.
        given: as the operation has them.
        entry_type: of the entry that the statement belongs to; task results count for practices alone.
        already: what the statement rests on now; its sources need not be shown to the model again.

    Raises:
        OperationRejected: ``EVIDENCE_NOT_FOUND``, ``DERIVED_NOT_EVIDENCE``, ``EPISODE_NOT_EVIDENCE``,
            ``SCOPE_FORBIDDEN``, ``TASK_RESULT_NOT_EVIDENCE``, ``OUTCOME_NOT_EVIDENCE``, ``QUOTE_NOT_VERBATIM``.
    """
    known = {cited.source for cited in already.citations} if already else set()
    found = [_checked(work, citation, entry_type, known) for citation in given]
    return tuple({(*cited.span, cited.role): cited for cited in found}.values())


def cite_or_note(
    work: Work, given: Sequence[CitationIn], text: str, *, entry_type: str, role: str = "supports"
) -> tuple[Cited, ...]:
    """Return checked citations; what a person types without any is kept as his note and cited (KN-68).

    Raises:
        OperationRejected: as `check_citations`; ``SCHEMA_INVALID`` if another actor cites nothing (DR-46).
    """
    if given:
        return check_citations(work, given, entry_type=entry_type)
    if not work.actor.is_human:
        raise refuse("SCHEMA_INVALID", "cite at least one source", field="citations")
    return (note(work, text, role=role),)


def require_other_voice(work: Work, citations: Iterable[Cited]) -> None:
    """Refuse what rests on nothing but an agent's own words.

    Raises:
        OperationRejected: ``AGENT_SELF_EVIDENCE`` (DR-47).
    """
    sources = [work.sources[cited.source] for cited in citations]
    if sources and all(_is_agent_message(source) for source in sources):
        raise refuse("AGENT_SELF_EVIDENCE", "an agent's own message needs other evidence beside it")


def require_several(work: Work, citations: Iterable[Cited], least: int = 2) -> None:
    """Refuse what needs more distinct pieces of evidence than it has.

    Raises:
        OperationRejected: ``NOT_ENOUGH_EVIDENCE`` (DR-63, KN-107).
    """
    if distinct_evidence(work.sources[cited.source] for cited in citations) < least:
        raise refuse("NOT_ENOUGH_EVIDENCE", f"cite at least {least} distinct sources", needed=least)


def distinct_evidence(sources: Iterable[Source]) -> int:
    """Return how many of the sources are distinct: not versions of one another and not of equal text (DR-63).

    The most that can be told apart, whatever their order: each source has one of its texts to itself.
    """
    pairs = {(source.series, content_key(source.text) or source.content_hash) for source in sources}
    series, texts = ({pair[side] for pair in pairs} for side in (0, 1))
    if len(pairs) in (len(series), len(texts)):  # nothing to choose: no source has several texts, or none shares one
        return min(len(series), len(texts))
    return _matched(pairs)


def _matched(pairs: Iterable[tuple[NodeId, str]]) -> int:
    """Return how many sources can have a text to themselves: the size of a maximum matching."""
    import networkx as nx  # here: a server at rest does without its 11 MiB

    graph: nx.Graph[tuple[str, str]] = nx.Graph((("source", series), ("text", text)) for series, text in pairs)
    top = [node for node in graph if node[0] == "source"]
    return len(nx.bipartite.maximum_matching(graph, top_nodes=top)) // 2


def is_human_word(source: Source) -> bool:
    """True for a person's message or note: what may correct (DR-71)."""
    if source.kind == SourceKind.HUMAN_NOTE:
        return True
    return source.kind == SourceKind.MESSAGE and not source.speaker_is_agent


def corrects(work: Work, citations: Iterable[Cited]) -> bool:
    """Return whether one of the citations is a person's explicit correction (DR-71)."""
    return any(c.role == Role.CORRECTS and is_human_word(work.sources[c.source]) for c in citations)


def is_new(cited: Cited, old: Iterable[Cited]) -> bool:
    """Return whether a citation says something that the old ones do not: none quotes a common stretch (DR-52)."""
    return not any(cited.overlaps(before) for before in old)


def is_hearsay(work: Work, cited: Cited) -> bool:
    """Return whether a citation quotes words that an unconfirmed statement rests on (DR-73)."""
    return any(cited.overlaps(rumour) for rumour in work.rumours.get(cited.source, ()))


def is_statement(id_: str) -> bool:
    """True for the id of something believed, rather than of something that happened."""
    return prefix_of(id_) in _STATEMENTS


def source_of(work: Work, given: str, known: Iterable[NodeId] = ()) -> Source:
    """Return a source that may be cited in the base that is written.

    Raises:
        OperationRejected: ``EVIDENCE_NOT_FOUND``, ``DERIVED_NOT_EVIDENCE``, ``EPISODE_NOT_EVIDENCE``,
            ``SCOPE_FORBIDDEN``.
    """
    id_ = NodeId(given)
    if id_ not in work.visible:
        raise not_found()
    if is_statement(id_):
        raise refuse("DERIVED_NOT_EVIDENCE", "cite the sources behind a statement; name it only as a basis")
    if prefix_of(id_) == Episode.PREFIX:
        raise refuse("EPISODE_NOT_EVIDENCE", "cite the messages behind an episode")
    source = work.sources.get(id_)
    opened = work.actor.opened
    if source is None or (opened is not None and id_ not in opened and id_ not in known):
        raise not_found()
    scope = work.scope_of_pool(source.pool)
    if scope is None or not evidence_allowed(work.scope, scope):
        raise refuse("SCOPE_FORBIDDEN", "cite only what this knowledge base reads")
    return source


def check_moved(work: Work, supports: Iterable[Support], entry_type: str) -> None:
    """Refuse to let what rests on a task result stand in an entry of another type than `practice`.

    Raises:
        OperationRejected: ``TASK_RESULT_NOT_EVIDENCE`` (DR-48).
    """
    cited = (work.sources.get(citation.source) for support in supports for citation in support.citations)
    for source in cited:
        if source is not None:
            _check_place(source, entry_type)


def cites_older(work: Work, support: Support) -> bool:
    """Return whether some source is cited in older versions alone, as far as the sources are known (KN-64)."""
    sources = [work.sources[cited.source] for cited in support.citations if cited.source in work.sources]
    return bool(outdated(CitedVersion(series=source.series, latest=source.latest) for source in sources))


def quoted(source: Source, citation: CitationIn) -> Cited:
    """Return a citation with the place of its quote.

    Raises:
        OperationRejected: ``QUOTE_NOT_VERBATIM``; of a task result ``OUTCOME_NOT_EVIDENCE`` (DR-48).
    """
    in_steps = _in_steps(source, citation.quote) if source.kind == SourceKind.TASK_RESULT else None
    found = in_steps or find_quote(citation.quote, source.text)
    if isinstance(found, QuoteRefusal):
        raise refuse("QUOTE_NOT_VERBATIM", "quote 4 to 500 characters exactly as they stand", why=str(found.reason))
    return Cited(
        source=source.id,
        quote=found.text,
        start=found.start,
        end=found.end,
        role=citation.role,
        speaker_id=source.author_id,
        said_at=source.occurred_at,
    )


def around(source: Source, start: int, end: int, *, least: int = 4) -> Cited:
    """Return a citation of a stretch of the normalised source, widened to the shortest allowed quote."""
    text = normalise_source(source.text)
    end = min(len(text), max(end, start + least))
    start = max(0, min(start, end - least))
    return Cited(
        source=source.id,
        quote=text[start:end],
        start=start,
        end=end,
        speaker_id=source.author_id,
        said_at=source.occurred_at,
    )


def _checked(work: Work, citation: CitationIn, entry_type: str, known: Iterable[NodeId]) -> Cited:
    source = source_of(work, citation.source, known)
    _check_place(source, entry_type)
    return quoted(source, citation)


def _check_place(source: Source, entry_type: str) -> None:
    if source.kind == SourceKind.TASK_RESULT and entry_type != PRACTICE:
        raise refuse("TASK_RESULT_NOT_EVIDENCE", "a task result tells how work goes: cite it in a practice")


def _in_steps(source: Source, quote: str) -> Quote | None:
    """Return where a quote stands in the recorded steps; None if it stands nowhere in the result.

    Raises:
        OperationRejected: ``OUTCOME_NOT_EVIDENCE``: it stands outside of the steps, in the final answer.
    """
    for step in _steps(source.meta):
        found = find_quote(quote, source.text, start=step["start"], end=step["end"])
        if isinstance(found, Quote):
            return found
    if isinstance(find_quote(quote, source.text), Quote):
        raise refuse("OUTCOME_NOT_EVIDENCE", "quote the recorded steps, not the final answer")
    return None


def _steps(meta: Any) -> Sequence[Mapping[str, Any]]:
    steps = meta.get("steps", ()) if isinstance(meta, Mapping) else ()
    return [step for step in steps if isinstance(step, Mapping) and "start" in step and "end" in step]


def _is_agent_message(source: Source) -> bool:
    return source.kind == SourceKind.MESSAGE and source.speaker_is_agent
