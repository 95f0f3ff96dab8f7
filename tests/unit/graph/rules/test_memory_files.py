"""Paths, content, frontmatter and differences of files in a memory, as pure rules (FM-58 to FM-66, FM-76, FM-77)."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model.errors import WorkspaceRefused
from graph.rules.memory_diff import hunks
from graph.rules.memory_files import checked_content
from graph.rules.memory_limits import MemoryLimits
from graph.rules.memory_paths import checked_path, checked_prefix

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "x" * 3]), max_size=14).map("\n".join)


def front(block: str) -> str:
    return f"---\n{block}\n---\nThe body.\n"


@pytest.mark.req("FM-59", "FM-60")
@pytest.mark.parametrize(
    "path",
    ["", "/", "/a", "a/", "a//b", ".", "..", "./a", "a/..", "a/../b", "a\\b", "a\tb", "a\x7f", "a\x85b", "\ud800"],
)
def test_what_is_no_relative_path_is_refused(path: str) -> None:
    with pytest.raises(WorkspaceRefused) as refused:
        checked_path(path)
    assert refused.value.details["field"] == "path"


@pytest.mark.req("FM-58", "FM-59", "FM-60")
@pytest.mark.parametrize("path", ["a", "a/b.md", "...", ".hidden", "a b", "%2e%2e", "~", "C:", "日本/語.md", "a\u202e"])
def test_legal_names_stay_as_they_are(path: str) -> None:
    assert checked_path(path) == path


@pytest.mark.req("FM-61")
def test_the_length_of_a_path_is_that_after_nfc() -> None:
    limits = MemoryLimits(path_bytes=16)
    decomposed = "e\u0301" * 8  # 24 bytes, 16 in NFC
    assert checked_path(decomposed, limits) == "\u00e9" * 8
    with pytest.raises(WorkspaceRefused):
        checked_path(decomposed + "x", limits)


@pytest.mark.req("FM-50")
def test_a_prefix_is_empty_or_a_directory() -> None:
    assert (checked_prefix(""), checked_prefix("a/b/")) == ("", "a/b/")


@pytest.mark.req("FM-65")
@pytest.mark.parametrize(
    "content",
    [
        "---",
        "---\n",
        "---\ndescription: x\n",
        front(""),
        front("- a"),
        front("text"),
        front("description: [a]"),
        front("description: 5"),
        front("description:"),
        front('description: "  "'),
        front("description: |\n  one\n  two"),
        front("description: " + "x" * 201),
        front("a: b: c"),
        front("y: *x"),
        front("a: " + "[" * 200 + "]" * 200),
        front('description: "\\ud800"'),
        front('description: "\\UFFFFFFFF"'),
        front('description: "a\\0b"'),
        front("description: " + "x" * 150 + "\nmore: " + "y" * 2_000),
        "---\r\ndescription: x\r\n",
    ],
)
def test_frontmatter_that_is_none_is_refused(content: str) -> None:
    with pytest.raises(WorkspaceRefused) as refused:
        checked_content(content)
    assert (refused.value.refusal, refused.value.details["field"]) == ("invalid_argument", "content")


@pytest.mark.req("FM-65", "FM-66")
@pytest.mark.parametrize(
    ("content", "description"),
    [
        (front("description: How we write"), "How we write"),
        (front("description: '  5 rules  '\nother: [1, {a: b}]"), "5 rules"),
        (front("title: x"), "The body."),
        (front("x: &x [1]\ny: *x"), "The body."),
        (front("title: &t How we write\ndescription: *t"), "How we write"),
        ("---\r\ndescription: x\r\n---\r\nbody", "x"),
        ("\ufeff---\ndescription: x\n---\n", "x"),
        (front("a: 1").removesuffix("The body.\n"), None),
        ("--- \nno fence", "---"),
        ("----\nx", "----"),
        ("\n\n  first \nsecond", "first"),
        ("x" * 300, "x" * 200),
        (" \n\t\n", None),
        ("", None),
    ],
)
def test_a_description_is_that_of_the_frontmatter_or_the_first_line(content: str, description: str | None) -> None:
    found = checked_content(content)
    assert (found.content, found.description) == (content, description)


@pytest.mark.req("FM-65")
def test_what_names_itself_over_and_over_does_not_grow() -> None:
    rows = [f"b{n}: &b{n} {{<<: [{', '.join([f'*b{n - 1}'] * 9)}]}}" for n in range(1, 25)]
    bomb = "\n".join(["b0: &b0 {x: 1}", *rows, "loop: &loop [*loop]", "description: Small"])
    assert checked_content(front(bomb)).description == "Small"


@pytest.mark.req("FM-64")
def test_the_size_counts_utf_8_bytes() -> None:
    limits = MemoryLimits(max_file_bytes=6)
    assert checked_content("日本", limits).size == 6
    with pytest.raises(WorkspaceRefused) as refused:
        checked_content("日本x", limits)
    assert (refused.value.refusal, refused.value.details) == ("payload_too_large", {"limit": 6})


@pytest.mark.req("FM-77")
@given(old=TEXTS, new=TEXTS)
def test_hunks_are_those_of_a_unified_diff(old: str, new: str) -> None:
    """Every hunk is consistent, and applying all of them to the old text gives the new one."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    result: list[str] = []
    place = 0
    for hunk in hunks(old, new):
        start = hunk.old_start - (hunk.old_count > 0)
        result += [line.removesuffix("\n") for line in before[place:start]]
        kept = [line[1:] for line in hunk.lines if line[0] in " -"]
        assert kept == [line.removesuffix("\n") for line in before[start : start + hunk.old_count]]
        added = [line[1:] for line in hunk.lines if line[0] in " +"]
        assert len(added) == hunk.new_count
        assert hunk.new_start - (hunk.new_count > 0) == len(result)
        result += added
        place = start + hunk.old_count
    result += [line.removesuffix("\n") for line in before[place:]]
    assert result == [line.removesuffix("\n") for line in after]
    assert bool(hunks(old, new)) == (old != new)


@pytest.mark.req("FM-77")
def test_changes_far_apart_are_hunks_of_their_own_with_three_lines_around() -> None:
    old = [f"{n}" for n in range(40)]
    new = [*old[:5], "x", *old[6:30], *old[31:]]
    found = hunks("\n".join(old), "\n".join(new))
    wanted = [line for line in difflib.unified_diff(old, new, lineterm="") if line.startswith("@@")]
    assert [f"@@ -{h.old_start},{h.old_count} +{h.new_start},{h.new_count} @@" for h in found] == wanted
    assert found[0].lines == (" 2", " 3", " 4", "-5", "+x", " 6", " 7", " 8")


@pytest.mark.req("FM-76")
def test_a_missing_last_line_feed_is_a_difference_and_texts_full_of_equal_lines_are_not_compared_in_full() -> None:
    assert [h.lines for h in hunks("a", "a\n")] == [("-a", "+a")]
    old, new = "x\n" * 5_000, "y\n" + "x\n" * 5_000 + "y\n"
    [hunk] = hunks(old, new)
    assert (hunk.old_count, hunk.new_count) == (5_000, 5_002)
