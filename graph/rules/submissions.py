"""Pasted text and web pages as entries at once: a paragraph a block, each citing its place in the source. Pure.

Source: MA-11, MA-12, KN-21, KN-70.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import regex

from graph.model.errors import BadInput, LimitExceeded
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Basis, Standing
from graph.rules.operations.blocks import append_blocks
from graph.rules.operations.content import BlockContent
from graph.rules.operations.entries import put_entry
from graph.rules.operations.evidence import around
from graph.rules.operations.schema_values import Change
from graph.rules.operations.state import Support
from graph.rules.operations.targets import own_entry
from graph.rules.operations.work import Work
from graph.text.paragraphs import Paragraph, cut_paragraphs, leading_quote
from graph.text.quotes import MIN_QUOTE_CHARACTERS

MAX_TEXT_CHARACTERS: Final = 1_000_000
MAX_PARAGRAPHS: Final = 1_000
NAME_CHARACTERS: Final = 80
TYPE: Final = "other"
_MAX_NAME: Final = 200


def paragraphs_of(text: str) -> list[Paragraph]:
    """Return the paragraphs of a submitted text.

    Raises:
        BadInput: there is none.
        LimitExceeded: the text is too long for an entry; it can be submitted as a file.
    """
    if len(text) > MAX_TEXT_CHARACTERS:
        raise LimitExceeded("the text is too long for an entry: submit it as a file", limit=MAX_TEXT_CHARACTERS)
    found = cut_paragraphs(text)
    if not found:
        raise BadInput("the text is empty", field="text")
    if len(found) > MAX_PARAGRAPHS:
        raise LimitExceeded("the text has too many paragraphs: submit it as a file", limit=MAX_PARAGRAPHS)
    return found


def name_for(title: str | None, page_title: str | None, text: str) -> str:
    r"""Return what the entry of a submitted text is called: its title, the page's, else how it begins (MA-12).

    >>> name_for(None, "  ", "We  ship\nin May.")
    'We ship in May.'
    """
    if title and title.strip():
        return title.strip()
    shown = " ".join((page_title or "").split())[:_MAX_NAME].strip()
    return shown or _beginning(" ".join(text.split()))


def write_submission(
    work: Work, source: Source, paragraphs: Sequence[Paragraph], *, name: str, entry: NodeId | None = None
) -> NodeId:
    """Put the paragraphs of a source into a new entry, or behind the blocks of `entry`; return the entry.

    Raises:
        OperationRejected: ``NAME_TAKEN``, ``LIMIT_EXCEEDED`` for the name; ``EVIDENCE_NOT_FOUND``,
            ``SCOPE_FORBIDDEN``, ``READ_ONLY_MIRROR`` for the entry.
    """
    contents = [_content(source, paragraph) for paragraph in paragraphs]
    if entry is None:
        return put_entry(work, name, TYPE, contents).id
    chosen = own_entry(work, entry)
    append_blocks(work, chosen.id, contents)
    return chosen.id


def _content(source: Source, paragraph: Paragraph) -> BlockContent:
    # A paragraph may be longer than a quote, which then is its beginning, or shorter, and is quoted with its
    # neighbourhood.
    length = max(len(leading_quote(paragraph.text)), MIN_QUOTE_CHARACTERS)
    cited = around(source, paragraph.start, min(paragraph.end, paragraph.start + length))
    return BlockContent(
        text=paragraph.text,
        basis=Basis.STATED,
        standing=Standing.SETTLED,
        change=Change.ADDITION,
        rests_on=Support(citations=(cited,)),
    )


def _beginning(text: str) -> str:
    """Return the first 80 characters, without tearing what a reader sees as one."""
    kept = ""
    for character in regex.findall(r"\X", text[: NAME_CHARACTERS * 2]):
        if len(kept) + len(character) > NAME_CHARACTERS:
            break
        kept += character
    return kept.strip()
