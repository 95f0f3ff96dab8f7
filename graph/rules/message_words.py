"""Which text of a message the keyword index sees."""

from __future__ import annotations

from graph.model.nodes.evidence import Source


def message_text(source: Source) -> str:
    """Return what is analysed for a message: who spoke and what was said.

    A question often names the speaker ("what did Ana say about …"), who rarely names herself.
    """
    return f"{source.speaker} {source.text}" if source.speaker else source.text
