"""Draw the diagram of docs/architecture.md from the imports; with ``--check`` look for drift and dead links."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PACKAGES = ("graph", "dreaming", "api", "rootward")

_BEGIN, _END = "<!-- imports: drawn by `make docs` -->", "<!-- imports: end -->"
_LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)

Edges = Mapping[str, frozenset[str]]
"""For each part, the parts that it imports."""


def parts_of(graph: grimp.ImportGraph) -> Edges:
    """Return who imports whom between the parts, a part being a top package's child, such as ``graph.rules``."""
    edges: dict[str, set[str]] = {}
    for module in sorted(graph.modules):
        importer = _part(module)
        targets = edges.setdefault(importer, set())
        targets |= {_part(other) for other in graph.find_modules_directly_imported_by(module)} - {importer}
    return {part: frozenset(targets) for part, targets in edges.items()}


def _part(module: str) -> str:
    return ".".join(module.split(".")[:2])


def mermaid(edges: Edges) -> str:
    """Return a Mermaid flow chart: one box a part, grouped by package, an arrow for each import between parts."""
    lines = ["```mermaid", "flowchart TD"]
    for package in sorted({part.split(".")[0] for part in edges}):
        members = sorted(part for part in edges if part.startswith(f"{package}."))
        if members:
            lines.append(f"    subgraph p_{package}[{package}]")
            lines += [f"        {_node(part)}[{part.split('.')[1]}]" for part in members]
            lines.append("    end")
    drawn = {part for part in edges if "." in part}
    for importer in sorted(drawn):
        lines += [f"    {_node(importer)} --> {_node(target)}" for target in sorted(edges[importer] & drawn)]
    return "\n".join([*lines, "```"])


def _node(part: str) -> str:
    """Return a Mermaid id; the prefix keeps it clear of Mermaid's own words, of which `graph` is one."""
    return "p_" + part.replace(".", "_")


def with_diagram(page: str, diagram: str) -> str:
    """Return the page with the text between its two markers replaced.

    Raises:
        ValueError: the page lacks the markers.
    """
    head, begin, rest = page.partition(_BEGIN)
    _, end, tail = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"the page needs the lines {_BEGIN} and {_END}")
    return f"{head}{_BEGIN}\n\n{diagram}\n\n{_END}{tail}"


def dead_links(pages: Iterable[Path]) -> list[str]:
    """Return the links of Markdown pages to files that are not there, as ``page: link``."""
    return [
        f"{page.name}: {link}"
        for page in pages
        for link in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8")))
        if "://" not in link and not link.startswith("mailto:") and not (page.parent / link).exists()
    ]


def tracked_pages(root: Path) -> list[Path]:
    """Return the Markdown pages of the checkout that are, or are about to be, under version control."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [path for name in listed.stdout.splitlines() if (path := root / name).is_file()]


def main(arguments: list[str]) -> int:
    """Write the diagram, or check it and the links; return 1 if something is to be mended."""
    path = ROOT / "docs" / "architecture.md"
    page = path.read_text(encoding="utf-8")
    graph = grimp.build_graph(*PACKAGES, cache_dir=None, include_external_packages=False)
    drawn = with_diagram(page, mermaid(parts_of(graph)))
    if "--check" not in arguments:
        path.write_text(drawn, encoding="utf-8")
        return 0
    complaints = [f"dead link in {link}" for link in dead_links(tracked_pages(ROOT))]
    if drawn != page:
        complaints.append("docs/architecture.md shows other imports than the code has; run: make docs")
    print("\n".join(complaints) if complaints else "docs: diagram and links are in order")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
