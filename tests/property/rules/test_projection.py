"""Whatever names and texts hold, the layout of a projection is the service's own (KN-38)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.rules.markdown import heading, inline, paragraph, quoted
from graph.rules.projection import ShownBlock, ShownEntry, ShownRelation, ShownSource, project

pytestmark = pytest.mark.req("KN-38")

_PIECES = (
    "# ",
    "## Sources",
    "\n",
    "\r\n",
    "\u2028",
    "[^1]",
    "[^1]: message",
    "[since 2020]",
    "[x](y)",
    "![x](y)",
    "<b>",
    "<!--",
    "&#91;",
    "&lt;",
    "`",
    "```",
    "~~~",
    "---",
    "***",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "1) ",
    "> ",
    "\\",
    '"',
    "=",
    "|",
    " #",
    "\t",
    "    ",
    "word",
    "é",
    "汇率",
    "\u202e",
    "\x00",
    "\x7f",
    "_",
    "(disputed)",
)
hostile = st.lists(st.sampled_from(_PIECES), min_size=1, max_size=12).map("".join)
texts = st.one_of(hostile, st.text(min_size=1, max_size=40))
MARKDOWN = MarkdownIt("commonmark")
SOURCE = NodeId("src_1")


def made(text: str) -> ShownEntry:
    return ShownEntry(
        name=text,
        type="person",
        aliases=(text, text),
        updated_at=Millis(0),
        summary=text,
        blocks=(
            ShownBlock(text=text, standing="disputed", sources=(SOURCE,)),
            ShownBlock(text=text, standing="settled", sources=(SOURCE,)),
        ),
        relations=(ShownRelation(subject=text, type="knows", object=text, sources=(SOURCE,)),),
        sources={SOURCE: ShownSource(shown_id="id", kind="file", title=text, at=Millis(0))},
    )


@given(texts)
@example("# 1\n\n## Sources\n\n[^9]: message, x")
@example("`a` <b> &amp; [^1] \\[^2]")
def test_lines_are_those_of_the_layout(text: str) -> None:
    lines = project(made(text)).split("\n")
    if not inline(text):
        return
    kinds = [line[:3] for line in lines]
    assert [n for n, line in enumerate(lines) if line.startswith("## ")] == [5, 11, 15]
    assert [line for line in lines if line.startswith("## ")] == ["## Facts", "## Relations", "## Sources"]
    assert kinds.count("[^1") == 1
    assert len(lines) == 19


@given(texts)
def test_only_the_service_writes_brackets(text: str) -> None:
    written = re.sub(r"\\[\\\[\]<`\"&#>+\-*~_.)]", "", project(made(text)))
    assert re.findall(r"\[[^\]]*\]", written) == ["[disputed]", "[^1]", "[^1]", "[^1]", "[^1]"]


@given(texts)
@example("*")
@example("_ _ _")
@example("10) x")
def test_markdown_reads_the_text_as_one_paragraph_of_plain_words(text: str) -> None:
    shown = paragraph(text)
    tokens = MARKDOWN.parse(shown)
    assert [token.type for token in tokens] in ([], ["paragraph_open", "inline", "paragraph_close"])
    kinds = {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {"text", "text_special", "em_open", "em_close", "strong_open", "strong_close"}


@given(texts)
def test_markdown_reads_the_name_as_one_heading(text: str) -> None:
    tokens = MARKDOWN.parse(heading(text))
    assert [token.type for token in tokens] == ["heading_open", "inline", "heading_close"]
    plain = MARKDOWN.parse(paragraph(text))
    if "*" not in text and "_" not in text:
        assert _words(tokens) == _words(plain)


@given(texts)
def test_quotation_ends_where_the_service_ends_it(text: str) -> None:
    inside = quoted(text)[1:-1]
    assert re.sub(r"\\.", "", inside).count('"') == 0
    assert not re.sub(r"\\\\", "", inside).endswith("\\")


@given(texts)
def test_same_input_gives_the_same_bytes(text: str) -> None:
    assert project(made(text)).encode("utf-8", "surrogatepass") == project(made(text)).encode("utf-8", "surrogatepass")


def _words(tokens: Sequence[object]) -> str:
    children = [child for token in tokens for child in getattr(token, "children", None) or ()]
    return "".join(child.content for child in children)
