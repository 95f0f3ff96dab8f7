"""Names of entries: taken, dated, or said by no evidence; and where a name stands in a text.

Source: KN-18, KN-124, DR-43, DR-51, DR-65, CO-72, CO-73.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

import regex

from graph.model.ids import NodeId
from graph.rules.names import is_dated_name, is_near_name, normalised_name
from graph.rules.operations.evidence import around
from graph.rules.operations.limits import MAX_NAME, check_length
from graph.rules.operations.state import BlockState, Cited, NameOwner, Support
from graph.rules.operations.verdicts import refuse
from graph.rules.operations.work import Work
from graph.text.quotes import normalise_source
from graph.text.similarity import name_key

_CJK: Final = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")


def clean_name(name: str) -> str:
    """Return a name as it is stored: NFC, trimmed."""
    return unicodedata.normalize("NFC", name).strip()


def check_name(work: Work, name: str, entry_type: str, *, of: NodeId | None = None, may_be_dated: bool = False) -> None:
    """Refuse a name that is too long, dated or taken; an entry that is not live gives it up.

    Two live entries of a base never share a normalised name. Who is no person may neither tell two entries apart by
    case, spaces, punctuation and signs alone: such a name is the same one. The entry `of` may have it already. What
    somebody handed in is called what it calls itself, and `may_be_dated`.

    Raises:
        OperationRejected: ``LIMIT_EXCEEDED``, ``DATED_NAME``, ``NAME_TAKEN`` with `entry_id`.
    """
    check_length(name, "name", 1, MAX_NAME)
    if not (may_be_dated or work.actor.is_human) and is_dated_name(name, entry_type=entry_type):
        raise refuse("DATED_NAME", "name a stable topic; a date belongs into a block, or to an event")
    owner = work.names.get(normalised_name(name))
    if owner is not None and owner.live and owner.entry != of:
        raise _taken(owner.entry)
    same = work.same_names.get(name_key(name))
    if not work.actor.is_human and same not in (None, of):
        raise _taken(same)


def check_not_near(work: Work, name: str) -> None:
    """Refuse an entry of inductions alone whose name is near to one that the actor can read.

    Raises:
        OperationRejected: ``NAME_TAKEN`` with `entry_id` (DR-65).
    """
    for entry in work.state.readable:
        if is_near_name(name, entry.names):
            raise _taken(NodeId(entry.id))
    for state in work.entries.values():
        if state.entry.pool == work.pool and is_near_name(name, state.names):
            raise _taken(state.id)


def take_name(work: Work, entry: NodeId, name: str, *, old: str | None = None) -> str:
    """Note who has a name now and return it as the store keeps it unique."""
    key = normalised_name(name)
    owner = work.names.get(key)
    if owner is not None and owner.entry != entry:
        work.changes.patch(owner.entry, live_name=None)
    if old is not None:
        work.names.pop(normalised_name(old), None)
        work.same_names.pop(name_key(old), None)
    work.names[key] = NameOwner(entry=entry)
    work.same_names[name_key(name)] = entry
    return key


def said_by(work: Work, entry: NodeId, name: str) -> Support:
    """Return the visible blocks of an entry that say a name; if none does, the visible sources that do."""
    blocks = [state for state in work.blocks_of(entry) if state.seen_in(work.visible)]
    saying = tuple(state.version.id for state in blocks if mentions(state.version.text, name))
    if saying:
        return Support(derived_from=saying)
    return Support(citations=tuple(_in_sources(work, entry, blocks, name)))


def resting_on_all(work: Work, entry: NodeId) -> Support:
    """Return all visible blocks of an entry, on any of which its name rests (KN-124)."""
    blocks = (state for state in work.blocks_of(entry) if state.seen_in(work.visible))
    return Support(derived_from=tuple(state.version.id for state in blocks))


def mentions(text: str, name: str) -> bool:
    """Return whether a text contains a name as a word of its own, whatever its case and spaces.

    >>> mentions("Ana joined  HELIO.", "Helio"), mentions("Heliograph", "Helio"), mentions("王芳加入了海洋", "海洋")
    (True, False, True)
    """
    return bool(name.strip()) and _pattern(normalised_name(name)).search(normalised_name(text)) is not None


def mentions_any(text: str, names: Iterable[str]) -> bool:
    """Return whether a text contains one of the names."""
    return any(mentions(text, name) for name in names)


def has_word(text: str, words: Iterable[str]) -> bool:
    """Return whether a text has one of the words, as given or with a capital; CJK words need no spaces around.

    >>> has_word("I moved", ["I", "us"]), has_word("the US team", ["us"]), has_word("我们搬家了", ["我们"])
    (True, False, True)
    """
    forms = {form for word in words for form in (word, word[:1].upper() + word[1:])}
    return any(_pattern(form).search(text) for form in forms)


def _taken(entry: NodeId | None) -> Exception:
    return refuse("NAME_TAKEN", "write to the entry that has the name, or choose another name", entry_id=entry)


def _in_sources(work: Work, entry: NodeId, blocks: Iterable[BlockState], name: str) -> Iterator[Cited]:
    state = work.entries[entry]
    cited = [c.source for block in blocks for c in block.rests_on.citations]
    cited += [c.source for facet in state.facets for c in facet.rests_on.citations]
    for id_ in dict.fromkeys(cited):
        source = work.sources.get(id_)
        if source is not None:
            match = _loose_pattern(name).search(normalise_source(source.text))
            if match is not None:
                yield around(source, match.start(), match.end())


def _pattern(word: str) -> regex.Pattern[str]:
    return regex.compile(_bounded(regex.escape(word), word))


def _loose_pattern(name: str) -> regex.Pattern[str]:
    """Match a name in a text as it stands, since its place is needed: any case, any white space."""
    words = r"\s+".join(regex.escape(part) for part in name.split())
    return regex.compile(_bounded(words, name), regex.IGNORECASE)


def _bounded(inner: str, word: str) -> str:
    before = "" if _joins(word[:1]) else r"(?<![\p{L}\p{N}])"
    after = "" if _joins(word[-1:]) else r"(?![\p{L}\p{N}])"
    return f"{before}{inner}{after}"


def _joins(character: str) -> bool:
    """True where words are written without spaces, or at a sign: nothing marks the edge of a word there."""
    return not character.isalnum() or _CJK.match(character) is not None
