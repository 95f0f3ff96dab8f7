r"""What a file of a memory may hold, and the one line that describes it (FM-63 to FM-66).

>>> checked_content("---\ndescription: How we write\n---\nBe brief.\n").description
'How we write'
>>> checked_content("\n  Be brief.\n").description
'Be brief.'
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

import yaml

from graph.model.errors import WorkspaceRefused
from graph.rules.memory_limits import MemoryLimits
from graph.rules.memory_refusals import invalid

_FENCE: Final = "---"
_BOM: Final = "\ufeff"
_MAX_DEPTH: Final = 16
_NO_LINE: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
_TEXT: Final = "tag:yaml.org,2002:str"
_DEFAULTS: Final = MemoryLimits()


@dataclass(frozen=True, kw_only=True, slots=True)
class FileText:
    """A text that may be stored, byte for byte as it was given.

    Attributes:
        size: UTF-8 bytes.
    """

    content: str
    size: int
    description: str | None


def checked_content(content: str, limits: MemoryLimits = _DEFAULTS) -> FileText:
    """Return a text with its size and description.

    Raises:
        WorkspaceRefused: ``payload_too_large``; ``invalid_argument`` at `content`: U+0000, or frontmatter that is none.
    """
    size = len(content.encode("utf-8"))
    if size > limits.max_file_bytes:
        limit = limits.max_file_bytes
        raise WorkspaceRefused("payload_too_large", f"a file holds at most {limit} bytes", limit=limit)
    if "\0" in content:
        raise invalid("content", "has no U+0000")
    return FileText(content=content, size=size, description=_description(content, limits))


def _description(content: str, limits: MemoryLimits) -> str | None:
    lines = content.removeprefix(_BOM).split("\n")
    end = _end_of_frontmatter(lines, limits) if _is_fence(lines[0]) else -1
    if end > 0:
        given = _described("\n".join(lines[1:end]), limits)
        if given is not None:
            return given
    first = next((line.strip() for line in lines[end + 1 :] if line.strip()), None)
    return None if first is None else first[: limits.description_chars]


def _is_fence(line: str) -> bool:
    return line.rstrip("\r") == _FENCE


def _end_of_frontmatter(lines: list[str], limits: MemoryLimits) -> int:
    """Return the number of the line that closes the frontmatter; the fences count as its bytes."""
    used = 0
    for number, line in enumerate(lines):
        used += len(line.encode()) + (number + 1 < len(lines))
        if used > limits.frontmatter_bytes:
            break
        if number and _is_fence(line):
            return number
    raise invalid("content", f"closes its frontmatter with --- within {limits.frontmatter_bytes} bytes")


def _described(block: str, limits: MemoryLimits) -> str | None:
    """Return the description that a block of frontmatter gives; nothing else of it is made into a value."""
    found = [value for key, value in _mapping(block).value if key.value == "description"]
    if not found:
        return None
    value = found[-1]
    is_text = isinstance(value, yaml.ScalarNode) and value.tag == _TEXT
    text = value.value.strip() if is_text else ""
    if not text or len(text) > limits.description_chars or any(unicodedata.category(c) in _NO_LINE for c in text):
        raise invalid("content", f"describes itself in one line of 1 to {limits.description_chars} characters")
    return str(text)


def _mapping(block: str) -> yaml.MappingNode:
    try:
        if _is_deep(block):
            raise invalid("content", "has frontmatter that is not nested deeply")
        node = yaml.compose(block, yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, OverflowError):  # the last two: escapes of characters that there are not
        raise invalid("content", "has frontmatter that is YAML") from None
    if not isinstance(node, yaml.MappingNode):
        raise invalid("content", "has frontmatter that is a YAML mapping")
    return node


def _is_deep(block: str) -> bool:
    """Return whether the block is nested so deeply that composing it might exhaust the stack.

    Aliases are harmless: nodes are composed and never made into values, so that each stays the one node it names.
    """
    depth = 0
    for event in yaml.parse(block, yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            return True
    return False
