"""Filling one token budget with expanded search results, best first.

Items arrive expanded and in rank order; each is a list of parts, such as messages in time order or an entry's
name, summary and blocks. Nothing here knows where the parts come from. Sources: RE-24 to RE-27.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from graph.text.tokens import DEFAULT_TOKENIZER, Tokenizer

MIN_REST_TOKENS: Final = 64
"""A rest smaller than this is not worth a cut item (RE-26)."""

GAP: Final = "…"


@dataclass(frozen=True, kw_only=True)
class Part:
    """A piece of an item's text.

    Attributes:
        text: as it is to be shown.
        message_id: for messages, so that none is shown twice; None for pieces of entries.
        own: the item stands for it; False for neighbours and the rest of a thread, added as context.
        matched: kept in preference to the rest when the item is cut.
        focus: where in the text the matched words begin, in code points; a cut keeps what follows.
    """

    text: str
    message_id: str | None = None
    own: bool = True
    matched: bool = False
    focus: int = 0


@dataclass(frozen=True, kw_only=True)
class Item:
    """An expanded result."""

    ref: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, kw_only=True)
class PackedItem:
    """An item as it is returned; ``tokens`` counts the whole text, mark included."""

    ref: str
    text: str
    tokens: int
    truncated: bool
    message_ids: tuple[str, ...]


def truncation_mark(ref: str) -> str:
    """Return the end of a cut text, which says how to read on. Source: RE-27."""
    return f"… [truncated: memory_browse {ref}]"


def without_repeats(items: Iterable[Item]) -> list[Item]:
    """Return the items without messages that a better item holds already, and without items left with none.

    An item whose own messages are all shown elsewhere is dropped, even if neighbours of it are not: they were only
    its context. Source: RE-24.
    """
    shown: set[str] = set()
    kept: list[Item] = []
    for item in items:
        parts = tuple(part for part in item.parts if part.message_id is None or part.message_id not in shown)
        if any(part.own for part in parts):
            kept.append(replace(item, parts=parts))
            shown.update(part.message_id for part in parts if part.message_id is not None)
    return kept


def pack(
    items: Iterable[Item],
    *,
    total_tokens: int = 4_000,
    item_tokens: int = 1_500,
    max_items: int = 12,
    tokenizer: Tokenizer = DEFAULT_TOKENIZER,
) -> list[PackedItem]:
    """Return the items that fit, in rank order.

    Each costs at most ``item_tokens`` and is cut to that; one that does not fit is cut to the rest if at least 64
    tokens remain. Filling stops at the first item that cannot be taken. The sum never exceeds ``total_tokens``.

    >>> pack([Item(ref="m1", parts=(Part(text="hello world"),))])[0].tokens
    4
    """
    packed: list[PackedItem] = []
    rest = total_tokens
    for item in without_repeats(items):
        taken = _take(item, rest, item_tokens, tokenizer) if len(packed) < max_items else None
        if taken is None:
            break
        packed.append(taken)
        rest -= taken.tokens
    return packed


def _take(item: Item, rest: int, item_tokens: int, tokenizer: Tokenizer) -> PackedItem | None:
    text = "\n".join(part.text for part in item.parts)
    tokens = tokenizer.count(text)
    if tokens <= min(item_tokens, rest):
        ids = _message_ids(item.parts)
        return PackedItem(ref=item.ref, text=text, tokens=tokens, truncated=False, message_ids=ids)
    cost = min(tokens, item_tokens)
    if cost > rest and rest < MIN_REST_TOKENS:
        return None
    return cut(item, min(cost, rest), tokenizer=tokenizer)


def cut(item: Item, budget_tokens: int, *, tokenizer: Tokenizer = DEFAULT_TOKENIZER) -> PackedItem | None:
    """Return an item shortened to a budget, ending in the mark; None if not even the mark fits.

    Matched parts are kept first, then those nearest to them; what is kept stays in its order, with ``…`` where
    something is left out, and the last piece taken fills the budget. Source: RE-27.
    """
    mark = truncation_mark(item.ref)
    room = budget_tokens - tokenizer.count(mark)
    while room >= 0:
        pieces = _choose(item.parts, room, tokenizer)
        text = _render(pieces, item.parts, mark)
        tokens = tokenizer.count(text)
        if tokens <= budget_tokens:
            ids = _message_ids(item.parts[place] for place in sorted(pieces))
            return PackedItem(ref=item.ref, text=text, tokens=tokens, truncated=True, message_ids=ids)
        room -= max(1, tokens - budget_tokens)
    return None


def _choose(parts: Sequence[Part], room: int, tokenizer: Tokenizer) -> dict[int, str]:
    """Return the kept text by place of its part."""
    pieces: dict[int, str] = {}
    spent = 0
    gap = tokenizer.count(GAP)
    for place in _by_preference(parts):
        text = parts[place].text
        cost = tokenizer.count(text)
        gaps = gap * len(_gaps({**pieces, place: text}, parts))
        if spent + cost + gaps <= room:
            pieces[place] = text
            spent += cost
            continue
        piece = _shortened(parts[place], room - spent, {**pieces, place: ""}, parts, place, gap, tokenizer)
        if piece:
            pieces[place] = piece
        break
    return pieces


def _shortened(
    part: Part,
    room: int,
    pieces: dict[int, str],
    parts: Sequence[Part],
    place: int,
    gap: int,
    tokenizer: Tokenizer,
) -> str:
    """Return as much of a part as fits beside the pieces, from its focus on if its beginning must go."""
    room -= gap * len(_gaps(pieces, parts))
    head = tokenizer.cut_to(part.text, room)
    if part.matched and part.focus >= len(head):
        head = f"{GAP} " + tokenizer.cut_to(part.text[part.focus :], room - gap)
    return head.rstrip() if tokenizer.count(head) > 0 else ""


def _by_preference(parts: Sequence[Part]) -> list[int]:
    matched = [place for place, part in enumerate(parts) if part.matched] or [0]
    return sorted(
        range(len(parts)),
        key=lambda place: (not parts[place].matched, min(abs(place - hit) for hit in matched), -place),
    )


def _gaps(pieces: Collection[int], parts: Sequence[Part]) -> list[int]:
    """Return the places before which something is left out; the end needs no gap, since the mark stands there."""
    places = sorted(pieces)
    texts = pieces if isinstance(pieces, dict) else {}
    gaps = []
    for before, place in zip([-1, *places], places, strict=False):
        is_cut = before >= 0 and texts.get(before) != parts[before].text
        if place != before + 1 or is_cut:
            gaps.append(place)
    return gaps


def _render(pieces: dict[int, str], parts: Sequence[Part], mark: str) -> str:
    gaps = set(_gaps(pieces, parts))
    lines: list[str] = []
    for place in sorted(pieces):
        if place in gaps:
            lines.append(GAP)
        lines.append(pieces[place])
    return "\n".join([*lines, mark])


def _message_ids(parts: Iterable[Part]) -> tuple[str, ...]:
    return tuple(part.message_id for part in parts if part.message_id is not None)
