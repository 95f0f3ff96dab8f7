"""The operations that the audit of knowledge knows, and which of them can be restored. Source: KN-84, KN-103."""

from __future__ import annotations

from enum import StrEnum


class AuditOperation(StrEnum):
    """What an audited step did. `source.withdraw`, `source.return` and `entry.mark_distinct` go beyond KN-84.

    `settings.write` is a step of administration: settings belong to no knowledge base (`graph.rules.admin_chain`).
    """

    ENTRY_CREATE = "entry.create"
    ENTRY_RENAME = "entry.rename"
    ENTRY_SET_TYPE = "entry.set_type"
    ENTRY_SET_SUMMARY = "entry.set_summary"
    ENTRY_SET_ALIASES = "entry.set_aliases"
    ENTRY_SET_ATTRIBUTES = "entry.set_attributes"
    ENTRY_MARK_DISTINCT = "entry.mark_distinct"
    ENTRY_DELETE = "entry.delete"
    BLOCK_CREATE = "block.create"
    BLOCK_EDIT = "block.edit"
    BLOCK_MOVE = "block.move"
    BLOCK_DELETE = "block.delete"
    RELATION_ADD = "relation.add"
    RELATION_ADD_EVIDENCE = "relation.add_evidence"
    RELATION_REMOVE = "relation.remove"
    MEMO_WRITE = "memo.write"
    LESSON_ADD = "lesson.add"
    LESSON_EDIT = "lesson.edit"
    LESSON_DELETE = "lesson.delete"
    GUIDE_WRITE = "guide.write"
    MIRROR_SYNC = "mirror.sync"
    MIRROR_WITHDRAW = "mirror.withdraw"
    SOURCE_WITHDRAW = "source.withdraw"
    SOURCE_RETURN = "source.return"
    SOURCE_ERASE = "source.erase"
    ACCESS_READ = "access.read"
    SETTINGS_WRITE = "settings.write"
    RESTORE = "restore"


NOT_RESTORABLE = frozenset(
    {
        AuditOperation.MIRROR_SYNC,
        AuditOperation.MIRROR_WITHDRAW,
        AuditOperation.SOURCE_WITHDRAW,
        AuditOperation.SOURCE_RETURN,
        AuditOperation.SOURCE_ERASE,
        AuditOperation.ACCESS_READ,
        AuditOperation.SETTINGS_WRITE,
    }
)
"""KN-103, and the state of a source: it follows the world outside and is turned back by its opposite command."""

RESTORABLE = frozenset(AuditOperation) - NOT_RESTORABLE


def is_restorable(operation: str) -> bool:
    """Say whether records of this operation can be restored; operations of other surfaces cannot (AD-26).

    >>> is_restorable("block.edit"), is_restorable("access.read"), is_restorable("bot.remember")
    (True, False, False)
    """
    return operation in RESTORABLE
