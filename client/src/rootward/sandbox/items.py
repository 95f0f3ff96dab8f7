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
    return [
        item
        for item in items
        if item.get("type") not in _NEVER and (item.get("role") is None or item.get("role") in _ROLES)
    ]


def _is_kept(item: Item) -> bool:
    if item.get("type") in _NEVER:
        return False
    role = item.get("role")
    return role in _ROLES if role is not None else item.get("type") in _CALLS | _RESULTS


def _without_thoughts(item: Item) -> Item:
    content = item.get("content")
    if isinstance(content, str) or not isinstance(content, Sequence):
        return item
    parts = [part for part in content if not (isinstance(part, Mapping) and part.get("type") in _THOUGHTS)]
    return item if len(parts) == len(content) else {**item, "content": parts}
