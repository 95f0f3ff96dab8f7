"""The prompts, one versioned text each, kept as package data.

A prompt is a Markdown file that begins with ``version: <n>`` and an empty line. Whoever changes what a prompt says
raises its version: saved and recorded calls name it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A prompt: its id with version, such as ``stage_a@2``, and its text."""

    id: str
    text: str


@cache
def load_prompt(name: str) -> Prompt:
    """Return a prompt by the name of its file.

    >>> load_prompt("stage_a").id
    'stage_a@2'
    """
    head, _, text = files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8").partition("\n\n")
    label, _, version = head.partition(": ")
    assert label == "version", f"{name}.md must begin with its version"
    return Prompt(id=f"{name}@{version}", text=text.strip())
