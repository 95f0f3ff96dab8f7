"""The operation `writeMemo`: the whole resident memo of a base, inside its budget. Source: RE-1 to RE-5, DR-43.

A line is never changed: what stands as it stood is kept, all else is believed no more and put anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId, node_id
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.learning import MemoLine, ResidentMemo
from graph.rules import images
from graph.rules.audit_operations import AuditOperation
from graph.rules.images import Image
from graph.rules.operations import imaging
from graph.rules.operations.drafting import draft
from graph.rules.operations.evidence import check_citations, cite_or_note
from graph.rules.operations.limits import check_count, check_length
from graph.rules.operations.schema import MemoLineIn, WriteMemo
from graph.rules.operations.state import LineState, MemoState, Support, support_edges
from graph.rules.operations.targets import expect_version
from graph.rules.operations.verdicts import Done, Outcome, refuse
from graph.rules.operations.work import Work

MAX_LINES: Final = 100
MAX_LINE: Final = 2_000

Line = tuple[str, Support]
"""What a line says and what it rests on."""


def memo_id(pool: NodeId) -> NodeId:
    """Return the id of the one memo of a knowledge base.

    >>> memo_id(NodeId("knb_w/atlas/shared"))
    'mem_w/atlas/shared'
    """
    return node_id(ResidentMemo.PREFIX, pool.partition("_")[2])


def memo_text(lines: Sequence[str]) -> str:
    """Return a memo as a turn carries it, which is also what its budget counts."""
    return "\n".join(lines)


def write_memo(work: Work, op: WriteMemo) -> Done:
    """Put these lines in the place of all lines of the memo; the same lines change nothing.

    Raises:
        OperationRejected: ``VERSION_CONFLICT``, ``MEMO_OVER_BUDGET``, ``LIMIT_EXCEEDED``, ``SCHEMA_INVALID``,
            ``SCOPE_FORBIDDEN``, or that of a citation.
    """
    if work.scope.kind is KbKind.GUIDE:
        raise refuse("SCOPE_FORBIDDEN", "a memo belongs to the knowledge of an agent")
    before = work.memo
    current = [state.line.text for state in before.lines if state.line.id in work.visible] if before else []
    expect_version(op.expectedVersion, before.memo.version if before else 0, {"lines": current})
    check_count(len(op.lines), "lines", MAX_LINES)
    texts = [_text(given) for given in op.lines]
    check_budget(work, texts)
    lines = [(text, _rests_on(work, given, text)) for text, given in zip(texts, op.lines, strict=True)]
    if before is not None and lines == [(state.line.text, state.rests_on) for state in before.lines]:
        return Done(outcome=Outcome.NOOP, created=(before.memo.id,))
    if before is None and not lines:
        return Done(outcome=Outcome.NOOP)
    after = put_lines(work, before, lines)
    _draft(work, before, after)
    return Done(created=(after.memo.id, *(state.line.id for state in after.lines)))


def check_budget(work: Work, texts: Sequence[str]) -> None:
    """Refuse a memo that is too long for every turn; it is never cut.

    Raises:
        OperationRejected: ``MEMO_OVER_BUDGET`` (RE-3, RE-4); details: `tokens`, `budget`.
    """
    tokens, budget = work.count_tokens(memo_text(texts)), work.settings["memo.kb_token_budget"]
    if tokens > budget:
        raise refuse("MEMO_OVER_BUDGET", f"a memo has at most {budget} tokens", tokens=tokens, budget=budget)


def put_lines(work: Work, before: MemoState | None, lines: Sequence[Line]) -> MemoState:
    """Give the memo its next version with these lines, keeping what stands as it stood."""
    memo = _next(work, before)
    old = {state.line.position: state for state in before.lines} if before else {}
    states = []
    for position, (text, rests_on) in enumerate(lines):
        known = old.get(position)
        if known is not None and (known.line.text, known.rests_on) == (text, rests_on):
            states.append(old.pop(position))
        else:
            states.append(_put_line(work, memo.id, position, text, rests_on))
    for gone in old.values():
        work.changes.patch(gone.line.id, invalidated_at=work.at)
    work.memo = MemoState(memo=memo, lines=tuple(states))
    return work.memo


def memo_image(state: MemoState) -> Image:
    """Return the image of a memo."""
    return images.memo_image([(line.line.text, imaging.support(line.rests_on)) for line in state.lines])


def _text(given: MemoLineIn) -> str:
    text = given.text.strip()
    check_length(text, "text", 1, MAX_LINE)
    if len(text.splitlines()) > 1:
        raise refuse("SCHEMA_INVALID", "a memo line is one line", field="lines")
    return text


def _rests_on(work: Work, given: MemoLineIn, text: str) -> Support:
    """Return the evidence of a line; one that a person leaves as it is keeps what it rests on."""
    if not given.citations and work.actor.is_human and work.memo is not None:
        for state in work.memo.lines:
            if state.line.text == text and state.line.id in work.visible:
                return state.rests_on
    if not given.citations:
        return Support(citations=cite_or_note(work, (), text, entry_type=""))
    return Support(citations=check_citations(work, given.citations, entry_type="", already=_said(work.memo)))


def _said(memo: MemoState | None) -> Support:
    """Return what the memo rests on now: it need not be shown to a model again (DR-45)."""
    found = Support()
    for state in memo.lines if memo else ():
        found = found.union(state.rests_on)
    return found


def _next(work: Work, before: MemoState | None) -> ResidentMemo:
    if before is not None:
        memo = replace(before.memo, version=before.memo.version + 1, updated_at=work.at)
        work.changes.patch(memo.id, version=memo.version, updated_at=memo.updated_at)
        return memo
    memo = ResidentMemo(
        id=memo_id(work.pool),
        workspace=work.state.base.workspace,
        pool=work.pool,
        created_at=work.at,
        version=1,
        updated_at=work.at,
    )
    work.changes.puts.append(memo)
    work.changes.links += [
        Edge(type=EdgeType.HAS_MEMO, source=work.pool, target=memo.id),
        Edge(type=EdgeType.SCOPED_TO, source=memo.id, target=work.pool),
    ]
    return memo


def _put_line(work: Work, memo: NodeId, position: int, text: str, rests_on: Support) -> LineState:
    line = MemoLine(
        id=work.new_id(MemoLine.PREFIX),
        workspace=work.state.base.workspace,
        pool=work.pool,
        created_at=work.at,
        memo_id=memo,
        text=text,
        position=position,
        recorded_at=work.at,
        modifier_id=work.actor.id,
        modifier_kind=work.actor.kind,
    )
    work.changes.puts.append(line)
    work.changes.links.append(Edge(type=EdgeType.HAS_LINE, source=memo, target=line.id))
    work.changes.links += support_edges(line.id, rests_on, work.at)
    work.visible.add(line.id)
    return LineState(line=line, rests_on=rests_on)


def _draft(work: Work, before: MemoState | None, after: MemoState) -> None:
    supports = [line.rests_on for state in (before, after) if state for line in state.lines]
    draft(
        work,
        AuditOperation.MEMO_WRITE,
        after.memo.id,
        before=memo_image(before) if before else None,
        after=memo_image(after),
        sources=work.sources_behind(*supports),
    )
