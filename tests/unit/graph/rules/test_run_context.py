"""Blocks of context under their budget (MT-37 to MT-43) and of recall (RM-55, RM-59, RM-60)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.rules.memory_limits import MemoryLimits
from graph.rules.run_context import (
    ContextKind,
    Part,
    Source,
    TextFile,
    escaped,
    lay_out,
    recall_block,
    recall_query,
    taken,
)
from graph.rules.run_index import MORE, fitted


def full(name: str = "team", files: list[tuple[str, str]] | None = None, lines: list[str] | None = None) -> Source:
    loaded = [TextFile(path=path, content=content) for path, content in files or []]
    return Source(
        name=name,
        full=Part(kind=ContextKind.FULL, files=loaded, lines=[(line, line) for line in lines or []]),
    )


def changed(source: Source, lines: list[str]) -> Source:
    part = Part(kind=ContextKind.CHANGES, lines=[(line, line) for line in lines])
    return Source(name=source.name, full=source.full, changes=part)


def body(block: str) -> dict[str, Any]:
    return dict(json.loads(block.split("\n")[2]))


def size(text: str) -> int:
    return len(text.encode())


@pytest.mark.req("MT-43")
def test_a_block_is_json_between_tags_that_its_content_cannot_close() -> None:
    content = "</memory-context>\n<b>&amp;"
    [block] = lay_out([full(files=[("a.md", content)], lines=["a.md: <x>"])], MemoryLimits())
    first, _, text, last = block.text.split("\n")
    assert first == '<memory-context memory="team" trust="untrusted" kind="full">'
    assert last == "</memory-context>"
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"files": [{"path": "a.md", "content": content}], "index": ["a.md: <x>"]}
    [block] = lay_out([changed(full(), ["a.md"])], MemoryLimits())
    assert 'kind="changes"' in block.text
    assert body(block.text) == {"files": [], "changed": ["a.md"]}


@pytest.mark.req("MT-40", "MT-41")
def test_always_loaded_files_are_whole_or_a_hint() -> None:
    two = [("one.md", "a" * 5_120), ("two.md", "b" * 5_120)]
    blocks = lay_out([full("left", two), full("right", two)], MemoryLimits())
    for block in blocks:
        first, second = body(block.text)["files"]
        assert first == {"path": "one.md", "content": "a" * 5_120}
        assert set(second) == {"path", "hint"}
        assert "memory_file_view" in second["hint"]
    assert sum(size(block.text) for block in blocks) <= 32_768


@pytest.mark.req("MT-40", "MT-41")
def test_memories_are_served_in_order_while_the_budget_lasts_and_no_file_is_passed_over() -> None:
    limits = MemoryLimits(context_bytes=4_096, always_load_bytes=3_000)
    blocks = lay_out([full("a", [("f", "x" * 2_500)]), full("b", [("f", "x" * 2_500)])], limits)
    assert [list(body(block.text)["files"][0]) for block in blocks] == [["path", "content"], ["path", "hint"]]
    [block] = lay_out([full("a", [("big", "x" * 2_900), ("small", "y")])], limits)
    assert [list(file) for file in body(block.text)["files"]] == [["path", "hint"], ["path", "content"]]


@pytest.mark.req("MT-42")
def test_what_is_left_is_shared_and_unused_parts_go_to_the_others() -> None:
    long = [f"notes/{number:04}.md" for number in range(400)]
    limits = MemoryLimits(context_bytes=4_096)
    alone = body(lay_out([full("a", lines=long)], limits)[0].text)["index"]
    assert alone == ["notes/ (400 files)"]
    some = [f"{number:04}" for number in range(900)]
    a, b = lay_out([full("a", lines=["x"]), full("b", lines=some)], limits)
    assert body(a.text)["index"] == ["x"]
    kept = body(b.text)["index"]
    assert kept[-1] == MORE
    assert kept[:-1] == some[: len(kept) - 1]
    assert 3_900 < size(a.text) + size(b.text) <= 4_096


@pytest.mark.req("MT-42")
def test_changes_that_are_too_long_turn_into_full_context() -> None:
    lines = [f"{number:04}" for number in range(900)]
    limits = MemoryLimits(context_bytes=4_096)
    [block] = lay_out([changed(full(lines=["d/ok.md"]), lines)], limits)
    assert block.kind is ContextKind.FULL
    assert body(block.text)["index"] == ["d/ok.md"]


def characters(texts: Sequence[str]) -> int:
    return sum(map(len, texts))


@given(st.lists(st.text(max_size=20) | st.text(alphabet='"\\\\<>&\t\x00é', max_size=20), max_size=8))
def test_what_lines_take_is_counted_without_making_their_json(lines: list[str]) -> None:
    assert taken(lines) == sum(len(escaped(line).encode()) + 1 for line in lines)


@pytest.mark.req("MT-42")
def test_directories_are_folded_deepest_first() -> None:
    lines = [(path, path) for path in ("a/b/c/1.md", "a/b/c/2.md", "a/b/3.md", "a/4.md", "z.md")]
    assert fitted(lines, 100, characters) == [path for path, _ in lines]
    assert fitted(lines, 37, characters) == ["a/4.md", "a/b/3.md", "a/b/c/ (2 files)", "z.md"]
    assert fitted(lines, 30, characters) == ["a/4.md", "a/b/ (3 files)", "z.md"]
    assert fitted(lines, 18, characters) == ["a/ (4 files)", "z.md"]


@pytest.mark.req("MT-40", "MT-41")
@given(
    st.lists(
        st.tuples(
            st.lists(st.text(alphabet="a<\u00e9\u65e5", max_size=400), max_size=4),
            st.lists(st.text(alphabet="ab/<\u65e5", min_size=1, max_size=60), max_size=40, unique=True),
        ),
        max_size=5,
    ),
    st.integers(1_024, 6_000),
    st.integers(0, 1_024),
)
def test_blocks_stay_within_their_budget(
    memories: list[tuple[list[str], list[str]]], context: int, always: int
) -> None:
    limits = MemoryLimits(context_bytes=context, always_load_bytes=always)
    sources = [
        full(f"m{place}", [(f"f{number}", text) for number, text in enumerate(texts)], sorted(paths))
        for place, (texts, paths) in enumerate(memories)
    ]
    blocks = lay_out(sources, limits)
    assert sum(size(block.text) for block in blocks) <= context
    for block in blocks:
        whole = [file for file in body(block.text)["files"] if "content" in file]
        source = next(one for one in sources if one.name == block.name)
        assert all(TextFile(path=file["path"], content=file["content"]) in source.full.files for file in whole)
        assert not whole or size(escaped(whole)) < always


@pytest.mark.req("RM-55", "RM-60")
def test_recall_drops_the_least_similar_until_it_fits() -> None:
    records = [{"id": f"r{place}", "text": "x" * 2_000, "score": 1 - place / 10} for place in range(5)]
    block = recall_block("facts", records, 8_192)
    assert block is not None
    assert [record["id"] for record in body(block)["records"]] == ["r0", "r1", "r2"]
    assert size(block) <= 8_192
    assert block.startswith('<memory-recall memory="facts" trust="untrusted">\n')
    assert block.endswith("\n</memory-recall>")
    closing = recall_block("facts", [{"id": "r", "text": "</memory-recall>&", "score": None}], 8_192)
    assert closing is not None
    assert r"\u003c/memory-recall\u003e\u0026" in closing
    assert closing.count("</memory-recall>") == 1
    assert recall_block("facts", records, 1_000) is None
    assert recall_block("facts", [], 8_192) is None


@pytest.mark.req("RM-59")
def test_the_query_is_the_text_cut() -> None:
    assert recall_query("a" * 3_000) == "a" * 2_000
    assert recall_query(" \n ") == ""
