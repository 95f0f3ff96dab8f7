"""Which items of a run are kept: what was said and done, no instructions and no reasoning. Source: SB-44, SB-45."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rootward.models import Item

_ROLES = frozenset({"user", "assistant", "tool"})
_NEVER = frozenset({"reasoning", "compaction", "image_generation_call"})
_THOUGHTS = frozenset({"reasoning", "reasoning_text", "thinking", "redacted_thinking"})
"""Parts of a message that are reasoning."""
_CALLS = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "computer_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "tool_search_call",
        "web_search_call",
        "mcp_call",
        "mcp_approval_request",
        "mcp_approval_response",
        "program",
        "hosted_tool_call",
    }
)
_RESULTS = frozenset(
    {
        "function_call_output",
        "function_call_result",
        "custom_tool_call_output",
        "computer_call_output",
        "local_shell_call_output",
        "shell_call_output",
        "apply_patch_call_output",
        "tool_search_output",
        "program_output",
    }
)


def kept_items(items: Iterable[Item]) -> list[Item]:
    """Return the items that may be recorded, in order, without reasoning inside them.

    >>> kept_items([{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hi"}])
    [{'role': 'user', 'content': 'Hi'}]
    """
    return [_without_thoughts(item) for item in items if _is_kept(item)]


def kept_approvals(items: Iterable[Item]) -> list[Item]:
    """Return the pending approvals that may be recorded; their types are the runtime's own."""
    return [item for item in items if not _names(item, "type", _NEVER) and _has_role_or_none(item)]


def _is_kept(item: Item) -> bool:
    if _names(item, "type", _NEVER) or not _has_role_or_none(item):
        return False
    return item.get("role") is not None or _names(item, "type", _CALLS | _RESULTS)


def _has_role_or_none(item: Item) -> bool:
    return item.get("role") is None or _names(item, "role", _ROLES)


def _names(item: Item, member: str, known: frozenset[str]) -> bool:
    value = item.get(member)
    return isinstance(value, str) and value in known


def _without_thoughts(item: Item) -> Item:
    content = item.get("content")
    if isinstance(content, str) or not isinstance(content, Sequence):
        return item
    parts = [part for part in content if not (isinstance(part, Mapping) and _names(part, "type", _THOUGHTS))]
    return item if len(parts) == len(content) else {**item, "content": parts}
