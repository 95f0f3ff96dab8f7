"""The docs tool: the diagram follows the imports, dead links are found."""

from pathlib import Path

import grimp
import pytest

from tools.docs import dead_links, mermaid, parts_of, with_diagram


def import_graph(*imports: tuple[str, str]) -> grimp.ImportGraph:
    graph = grimp.ImportGraph()
    for module in {name for pair in imports for name in pair}:
        graph.add_module(module)
    for importer, imported in imports:
        graph.add_import(importer=importer, imported=imported)
    return graph


def test_imports_between_files_become_arrows_between_parts() -> None:
    graph = import_graph(("graph.rules.visibility", "graph.model.ids"), ("graph.rules.a", "graph.rules.b"))
    edges = parts_of(graph)
    assert edges == {"graph.rules": frozenset({"graph.model"}), "graph.model": frozenset()}
    assert "    p_graph_rules --> p_graph_model" in mermaid(edges).splitlines()


def test_the_diagram_replaces_what_stood_between_the_markers() -> None:
    once = with_diagram("top\n<!-- imports: drawn by `make docs` -->\nold\n<!-- imports: end -->\nend", "NEW")
    assert once == with_diagram(once, "NEW")
    assert "NEW" in once
    assert "old" not in once


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="needs the lines"):
        with_diagram("just text", "NEW")


def test_links_to_missing_files_are_found_and_code_blocks_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("hello")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](there.md#part) [b](gone.md) [c](https://example.org/x)\n\n```\n[d](code.md)\n```\n[e](#here)\n"
    )
    assert dead_links([page]) == ["page.md: gone.md"]
