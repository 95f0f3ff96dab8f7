"""What the server can refuse or report has words in Chinese: the console knows its codes (CO-9)."""

from __future__ import annotations

import re
from typing import Final

import pytest

from api.errors import TABLE
from graph.rules.model_reasons import ADVICE, SYNC_ADVICE
from graph.rules.unreadable import WHY
from tools.console import ROOT

WORDS: Final = ROOT / "console" / "src" / "ui" / "refusals.ts"
CONTRACT: Final = ROOT / "docs" / "contracts" / "knowledge.md"
RULES: Final = re.compile(r"`([A-Z]{3,}(?:_[A-Z]+)*_(?:EVIDENCE|VERBATIM|OVERRIDE|UNEXPLAINED|BUDGET))`")
"""Codes of rules that statements must keep."""
ELSEWHERE: Final = frozenset(
    {"InvalidRequest", "ModelFailed", "IMPORT_INVALID", "ARCHIVE_INVALID", "RECORDS_FAILED", "WORKSPACE_REFUSED"}
)
"""Codes of surfaces and commands that no page of the console asks."""


@pytest.mark.req("CO-9")
def test_every_code_that_a_page_can_meet_has_words_in_chinese() -> None:
    known = dict(re.findall(r"^  (\w+): '([^']+)',$", WORDS.read_text(encoding="utf-8"), re.MULTILINE))
    codes = {row.code for row in TABLE.values()} | set(ADVICE) | set(SYNC_ADVICE) | set(WHY)
    codes |= set(RULES.findall(CONTRACT.read_text(encoding="utf-8")))
    assert codes - known.keys() - ELSEWHERE == set()
    assert [words for words in known.values() if not re.search("[\u4e00-\u9fff]", words)] == []
