"""Pages lead somewhere: links and anchors in them, and pages that code and other files name, exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it.token import Token

from tests.docs.pages import ROOT, anchors, inline_of, page_of

PAGES = [
    str(page.relative_to(ROOT))
    for page in (
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        ROOT / "client" / "README.md",
        ROOT / "console" / "README.md",
        ROOT / "tests" / "console" / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    )
]
CODE = ("api", "bench", "client", "console/src", "dreaming", "examples", "graph", "tests", "tools")
FILES = ("Dockerfile", "Makefile", "docker-compose.yml", "pyproject.toml", "schema.graphql", ".ci/run")
OF_CODE = frozenset({".css", ".graphql", ".md", ".py", ".sh", ".toml", ".ts", ".tsx"})
DECISIONS = {page.name[:4]: page for page in (ROOT / "docs" / "adr").glob("*.md")}

_PAGE = re.compile(r"\bdocs/(?:(?:adr|contracts|how-to)/[\w-]+|[\w-]+)\.md(?:#[\w-]+)?")
_DECISION = re.compile(r"\bADRs? (\d{4})|\bdocs/adr/(\d{4})")
_OUTSIDE = re.compile(r"\bdesign,? sections? \d|\bsections? [\d ,and]+of the design\b", re.IGNORECASE)
_SAMPLES = ("docs/plan.md", "docs/memory_summary.md", "docs/contracts/a.md")
"""Names of files in examples and tests that are no pages of ours."""


def targets(page: str) -> Iterator[str]:
    """Yield what a page links to or shows, as it is written."""
    for token in inline_of(ROOT / page):
        for name in ("href", "src"):
            if target := token.attrs.get(name):
                yield str(target)


def missing(page: str, target: str) -> bool:
    """Tell whether a link of a page leads nowhere in this repository."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return False
    file = (ROOT / page).parent.joinpath(unquote(parts.path)) if parts.path else ROOT / page
    if not file.exists():
        return True
    return bool(parts.fragment) and not (file.suffix == ".md" and parts.fragment in anchors(file))


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_page_leads_somewhere(page: str) -> None:
    assert not [target for target in targets(page) if missing(page, target)]


@pytest.mark.parametrize("page", [page for page in PAGES if not page.startswith("docs/contracts/")])
def test_a_page_names_other_pages_by_links(page: str) -> None:
    assert not [token.content for token in inline_of(ROOT / page) if _names_a_page(page, token)]


def _names_a_page(page: str, token: Token) -> bool:
    """Tell whether this is the name of a page in quotes, where there should be a link."""
    if token.type != "code_inline" or not re.fullmatch(r"[\w./-]+\.md", token.content):
        return False
    here = (ROOT / page).parent
    return any(folder.joinpath(token.content).is_file() for folder in (here, ROOT))


def mentioning() -> Iterator[tuple[str, str]]:
    """Yield the files that may name a page, with their texts."""
    code = (file for folder in CODE for file in (ROOT / folder).rglob("*") if file.suffix in OF_CODE)
    for file in (*code, *(ROOT / name for name in (*PAGES, *FILES))):
        name = str(file.relative_to(ROOT))
        if file.is_file() and "node_modules" not in name and file != Path(__file__):
            yield name, file.read_text(encoding="utf-8")


TEXTS = dict(mentioning())


def test_every_page_that_is_named_exists() -> None:
    named = {(name, found) for name, text in TEXTS.items() for found in _PAGE.findall(text)}
    assert any(name == "graph/rules/visibility.py" for name, _ in named)
    assert not {(name, found) for name, found in named if found not in _SAMPLES and missing("README.md", found)}


def test_every_decision_that_is_named_exists() -> None:
    named = {(name, one or other) for name, text in TEXTS.items() for one, other in _DECISION.findall(text)}
    assert any(number == "0026" for _, number in named)
    assert not {(name, number) for name, number in named if number not in DECISIONS}


def test_nothing_names_sections_of_a_document_that_is_not_here() -> None:
    for text in ("design section 2.", "Design, sections 1", "sections 2 and 5 of the design"):
        assert _OUTSIDE.search(text)
    assert not [name for name, text in TEXTS.items() if _OUTSIDE.search(text)]


@pytest.mark.parametrize("number", sorted(DECISIONS))
def test_a_decision_has_its_number_in_its_heading_and_says_whether_it_holds(number: str) -> None:
    heading, empty, status = page_of(DECISIONS[number]).splitlines()[:3]
    assert heading.startswith(f"# {number} ")
    assert (empty, status.partition(",")[0]) == ("", "Status: accepted")
