"""The operations `addBlock`, `editBlock` and `deleteBlock`.

Source: DR-43, DR-49 to DR-52, DR-58, DR-69 to DR-75, KN-22.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Precision
from graph.rules.audit_operations import AuditOperation
from graph.rules.operations import imaging
from graph.rules.operations.block_content import CLOSING, block_content
from graph.rules.operations.block_places import GAP, move, next_position
from graph.rules.operations.block_writing import edit_block, end_block, make_block
from graph.rules.operations.conflict import check_deletion, check_duplicate
from graph.rules.operations.content import BlockContent, Validity
from graph.rules.operations.drafting import draft, supersedes
from graph.rules.operations.entry_writing import touch_entry
from graph.rules.operations.evidence import check_citations, check_moved, cites_older, not_found
from graph.rules.operations.facet_writing import gather
from graph.rules.operations.schema import AddBlock, DeleteBlock, EditBlock
from graph.rules.operations.schema_values import Change
from graph.rules.operations.state import BlockState, Cited, Support
from graph.rules.operations.targets import block_of, expect_version, is_offered, own_block, own_entry, require_reason
from graph.rules.operations.verdicts import Done, Outcome, refuse
from graph.rules.operations.work import Work
from graph.text.quotes import content_key

_REPEATABLE: Final = frozenset({Change.ADDITION, Change.RUMOUR, Change.INFERENCE})


def add_block(work: Work, op: AddBlock) -> Done:
    """Add a block; one that says the same already gets the evidence instead."""
    entry = own_entry(work, op.entry)
    replaced = [block_of(work, entry.id, id_) for id_ in dict.fromkeys(op.supersedes)]
    if replaced:
        require_reason(work)
    position = next_position(work, entry.id, op.after)
    content = block_content(work, op, entry_type=entry.entry.type, replaced=replaced)
    same = _same_statement(work, entry.id, op, content)
    if same is not None:
        return _add_citations(work, same, content.rests_on)
    made = make_block(work, entry.id, content, position)
    _draft_block(work, AuditOperation.BLOCK_CREATE, None, made)
    for old in replaced:
        _give_way(work, old, made, content)
    _belongs(work, made)
    return Done(created=(made.id, made.version.id))


def append_blocks(work: Work, entry: NodeId, contents: Sequence[BlockContent]) -> list[BlockState]:
    """Put blocks whose content was decided elsewhere behind all others of an entry, in their order."""
    start = next_position(work, entry)
    made = [make_block(work, entry, content, start + GAP * number) for number, content in enumerate(contents)]
    for state in made:
        _draft_block(work, AuditOperation.BLOCK_CREATE, None, state)
    touch_entry(work, entry)
    versions = tuple(state.version.id for state in made)
    gather(work, entry, work.entries[entry].name, Support(derived_from=versions))
    return made


def revise_block(work: Work, op: EditBlock) -> Done:
    """Give a block another version; one that says nothing else changes nothing.

    Whatever a person makes of a block, or leaves as it is without moving it, he says now: that answers the newer
    versions of its sources (MA-10).
    """
    old = own_block(work, op.block)
    expect_version(op.expectedVersion, old.block.current_version, {"text": old.version.text})
    require_reason(work)
    replaced = [block_of(work, old.entry_id, id_) for id_ in dict.fromkeys(op.supersedes) if id_ != old.id]
    entry_type = work.entries[old.entry_id].entry.type
    content = block_content(work, op, entry_type=entry_type, replaced=replaced, edited=old)
    moved = move(work, old, op.after)
    if work.actor.is_human:
        content = replace(content, confirmed_at=work.at)
    confirms = work.actor.is_human and op.after is None and cites_older(work, old.rests_on)
    if _says_the_same(old, content) and not (replaced or confirms):
        return Done(outcome=Outcome.ACCEPTED if moved else Outcome.NOOP, created=(old.id,))
    made = edit_block(work, work.blocks[old.id], content, change=op.change)
    _draft_block(work, AuditOperation.BLOCK_EDIT, old, made)
    for other in replaced:
        _give_way(work, other, made, content)
    _belongs(work, made)
    return Done(created=(made.id, made.version.id))


def delete_block(work: Work, op: DeleteBlock) -> Done:
    """End a block, because of evidence or because another one says the same."""
    target = own_block(work, op.block)
    expect_version(op.expectedVersion, target.block.current_version, {"text": target.version.text})
    require_reason(work)
    if not (op.reason or "").strip() and not work.actor.is_human:
        raise refuse("SCHEMA_INVALID", "say why the block is deleted", field="reason")
    unseen = is_offered(work, target)
    if op.duplicateOf is not None:
        if unseen:  # its sources are gone: whatever took them over would be hidden with them
            raise not_found()
        _move_sources(work, target, op.duplicateOf)
        citations: tuple[Cited, ...] = ()
    else:
        entry_type = work.entries[target.entry_id].entry.type
        citations = check_citations(work, op.citations, entry_type=entry_type)
        check_deletion(work, replace(target, rests_on=Support()) if unseen else target, citations)
    draft_deletion(work, target, citations)
    end_block(work, target)
    touch_entry(work, target.entry_id)
    return Done(created=(target.id,))


def draft_deletion(work: Work, target: BlockState, citations: Sequence[Cited] = ()) -> None:
    """Put the audit record of a block's end among the changes."""
    sources = work.sources_behind(target.rests_on, Support(citations=tuple(citations)))
    image = imaging.block(target, placed=True)
    draft(work, AuditOperation.BLOCK_DELETE, target.id, before=image, sources=sources)


def _same_statement(work: Work, entry: NodeId, op: AddBlock, content: BlockContent) -> BlockState | None:
    """Return a block that says this already, so that the same write twice makes one statement."""
    if op.change not in _REPEATABLE or op.supersedes:
        return None
    key = content_key(content.text)
    for state in work.blocks_of(entry):
        version = state.version
        same_kind = (version.basis, version.standing) == (content.basis, content.standing)
        when = Validity.of(version)
        if same_kind and content_key(version.text) == key and when == content.validity and state.seen_in(work.visible):
            return state
    return None


def _add_citations(work: Work, state: BlockState, more: Support) -> Done:
    """Let a statement rest on further sources; a person's repeated words and known quotes add nothing."""
    fresh = Support(
        citations=tuple(cited for cited in more.citations if not _is_own_note(work, cited)),
        derived_from=more.derived_from,
    )
    union = state.rests_on.union(fresh)
    if union == state.rests_on:
        return Done(outcome=Outcome.NOOP, created=(state.id, state.version.id))
    made = edit_block(work, state, replace(BlockContent.of(state), rests_on=union), change=Change.ADDITION)
    _draft_block(work, AuditOperation.BLOCK_EDIT, state, made)
    _belongs(work, made)
    return Done(outcome=Outcome.MERGED, created=(made.id, made.version.id))


def _is_own_note(work: Work, cited: Cited) -> bool:
    return any(node.id == cited.source for node in work.changes.puts)


def _give_way(work: Work, old: BlockState, new: BlockState, content: BlockContent) -> None:
    """End a superseded block, or, where the world changed, let it hold until the new one begins (DR-69)."""
    work.changes.links.append(supersedes(new.version.id, old.version.id, content.change, work.reason))
    if content.change not in CLOSING:
        draft_deletion(work, old, content.rests_on.citations)
        end_block(work, old)
        return
    begin = content.validity.valid_from
    held = Validity.of(old.version)
    if begin is None or (held.valid_to is not None and held.valid_to <= begin):
        return
    if held.valid_from is not None and held.valid_from >= begin:
        raise refuse("CONFLICT_UNEXPLAINED", "the new state begins after the old one did", field="validFrom")
    closed = replace(
        BlockContent.of(old),
        validity=held.closed_at(begin, content.validity.from_precision or Precision.INSTANT),
    )
    made = edit_block(work, old, closed, change=Change.EVOLUTION)
    _draft_block(work, AuditOperation.BLOCK_EDIT, old, made)


def _move_sources(work: Work, target: BlockState, given: str) -> None:
    """Let the block that says the same rest on the sources of the one that goes."""
    kept = own_block(work, given)
    if kept.id == target.id:
        raise not_found()
    check_duplicate(work, target, kept)
    check_moved(work, (target.rests_on,), work.entries[kept.entry_id].entry.type)
    union = kept.rests_on.union(target.rests_on)
    if union == kept.rests_on:
        return
    made = edit_block(work, kept, replace(BlockContent.of(kept), rests_on=union), change=Change.COMPRESSION)
    _draft_block(work, AuditOperation.BLOCK_EDIT, kept, made)
    _belongs(work, made)


def _says_the_same(old: BlockState, content: BlockContent) -> bool:
    return replace(BlockContent.of(old), change=content.change, confirmed_at=content.confirmed_at) == content


def _belongs(work: Work, state: BlockState) -> None:
    """Note the change at the entry, whose name rests on the block as well from now on."""
    touch_entry(work, state.entry_id)
    gather(work, state.entry_id, work.entries[state.entry_id].name, Support(derived_from=(state.version.id,)))


def _draft_block(work: Work, operation: AuditOperation, old: BlockState | None, new: BlockState) -> None:
    made = old is None
    draft(
        work,
        operation,
        new.id,
        before=None if old is None else imaging.block(old, placed=False),
        after=imaging.block(new, placed=made),
        sources=work.sources_behind(new.rests_on, *([old.rests_on] if old else [])),
    )
