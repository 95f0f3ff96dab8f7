"""Which memory conversation a run belongs to. Source: SB-53 to SB-59."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass

from rootward.errors import InvalidConversationId

_ROLLOUT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True, kw_only=True)
class ConversationRef:
    """What a run was given to name its conversation, most telling first.

    >>> ConversationRef(conversation_id="  ", session_id=None, group_id="g1").rollout_id()
    'g1'
    """

    conversation_id: str | None = None
    session_id: str | None = None
    group_id: str | None = None

    def rollout_id(self) -> str:
        """Return the id of the conversation and of its file: the first that is given, else a new one.

        Raises:
            InvalidConversationId: the first that is given cannot name a file.
        """
        for field in ("conversation_id", "session_id", "group_id"):
            value = getattr(self, field)
            if value is not None and not isinstance(value, str):
                raise InvalidConversationId(field)
            if value is not None and value.strip():
                return checked_id(value.strip(), field)
        return f"run-{uuid.uuid4().hex}"


def checked_id(rollout_id: str, field: str = "conversation_id") -> str:
    """Return the id as it is.

    Raises:
        InvalidConversationId: it cannot name a file.
    """
    if not is_rollout_id(rollout_id):
        raise InvalidConversationId(field)
    return rollout_id


def is_rollout_id(text: str) -> bool:
    """Tell whether a text can be the id of a conversation.

    >>> [is_rollout_id(text) for text in ("lead-desk", "../x", ".hidden", "a" * 129)]
    [True, False, False, False]
    """
    return _ROLLOUT_ID.fullmatch(text) is not None
