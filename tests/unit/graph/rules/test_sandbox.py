"""What is counted of bytes is what counting all of them again would give."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model.errors import WorkspaceRefused
from graph.rules.sandbox import appended, counted, sandbox_path, sandbox_prefix

PIECES = st.text(alphabet="ab\n", max_size=6).map(str.encode)


@pytest.mark.req("SB-49", "SB-108")
@given(before=PIECES, line=PIECES)
def test_counts_of_an_appended_file_are_those_of_its_bytes(before: bytes, line: bytes) -> None:
    whole = line + b"\n"
    missing = b"\n" if before and not before.endswith(b"\n") else b""
    assert appended(counted(before), counted(whole)) == counted(before + missing + whole)


@pytest.mark.req("SB-117")
def test_paths_may_be_as_long_as_two_directories_an_id_and_a_slug() -> None:
    longest = f"{'d' * 400}/rollout_summaries/{'a' * 128}_{'s' * 80}.md"
    assert sandbox_path(longest) == longest
    with pytest.raises(WorkspaceRefused) as refused:
        sandbox_path("d" * 1_025, "layout.memories_dir")
    assert refused.value.details["field"] == "layout.memories_dir"
    assert sandbox_prefix("") == ""
