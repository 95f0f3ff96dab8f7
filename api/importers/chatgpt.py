"""Read a ChatGPT `conversations.json`: the path that each conversation shows at the end, and no other branch."""

from collections.abc import Iterator
from typing import IO, Any

from api.importers.dates import Dates, Place
from api.importers.model import ImportedMessage
from api.importers.streams import array_items, text_of
from graph.model.time import Millis

CHANNEL = "chatgpt"
_SPEAKERS = {"user": "user", "assistant": "assistant"}


def read_chatgpt(stream: IO[bytes], *, file: str, dates: Dates) -> Iterator[ImportedMessage]:
    """Yield the questions and answers of all conversations, each conversation in order.

    System and tool messages, hidden ones, calls of tools and thoughts are left out, as are branches that
    were edited away; the tally counts them by reason. A message without a time gets that of the one before,
    or of its conversation. Every chat is private.

    Raises:
        ImportInvalid: `bad_json`, `bad_item`, `bad_field`, `bad_date`.
    """
    for position, conversation in array_items(stream, file=file):
        place = Place(file=file, index=f"item {position}")
        yield from _conversation(conversation, place, dates)


def _conversation(conversation: dict[str, Any], place: Place, dates: Dates) -> Iterator[ImportedMessage]:
    key = text_of(conversation, "conversation_id" if "conversation_id" in conversation else "id", place)
    time = dates.epoch(conversation.get("create_time") or 0, place)
    messages = list(_shown_messages(conversation, place, dates))
    for message in messages:
        text = _text(message, dates)
        if text is None:
            continue
        time = _time(message, time, place, dates)
        dates.tally.messages += 1
        yield ImportedMessage(
            channel=CHANNEL,
            conversation_key=key,
            external_id=text_of(message, "id", place),
            speaker=_SPEAKERS[_role(message)],
            sent_at=time,
            text=text,
            speaker_is_agent=_role(message) == "assistant",
            channel_kind="private_chat",
        )


def _shown_messages(conversation: dict[str, Any], place: Place, dates: Dates) -> Iterator[dict[str, Any]]:
    """Yield the messages from the root to the current node; a chain that runs in a circle is refused."""
    mapping = conversation.get("mapping")
    if not isinstance(mapping, dict) or not all(isinstance(node, dict) for node in mapping.values()):
        raise place.invalid("bad_field", "the field mapping must be an object of objects")
    path: list[str] = []
    node_id = conversation.get("current_node") or _last_leaf(mapping)
    while isinstance(node_id, str) and node_id in mapping:
        if len(path) > len(mapping):
            raise place.invalid("bad_field", "the messages of the conversation form a circle")
        path.append(node_id)
        node_id = mapping[node_id].get("parent")
    dates.tally.skipped["other_branch"] += sum(
        isinstance(node.get("message"), dict) for name, node in mapping.items() if name not in set(path)
    )
    for name in reversed(path):
        message = mapping[name].get("message")
        if isinstance(message, dict):
            yield message


def _last_leaf(mapping: dict[str, Any]) -> str | None:
    """Return the last node without children: old exports do not name the current one."""
    return next((name for name in reversed(mapping) if not mapping[name].get("children")), None)


def _text(message: dict[str, Any], dates: Dates) -> str | None:
    """Return what a message says, or None and count why it is left out."""
    reason = _left_out(message)
    if reason is not None:
        dates.tally.skipped[reason] += 1
        return None
    parts = message["content"].get("parts")
    parts = parts if isinstance(parts, list) else []
    texts = [part for part in parts if isinstance(part, str) and part.strip()]
    dates.tally.noted["attachment"] += sum(not isinstance(part, str) for part in parts)
    if not texts:
        dates.tally.skipped["no_text"] += 1
        return None
    return "\n\n".join(texts)


def _left_out(message: dict[str, Any]) -> str | None:
    role = _role(message)
    content = message.get("content")
    metadata = message.get("metadata")
    if role not in _SPEAKERS:
        return role if role in ("system", "tool") else "other_role"
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return "hidden"
    if not isinstance(content, dict):
        return "no_text"
    if message.get("recipient") not in (None, "all"):
        return "tool_call"
    kind = str(content.get("content_type"))
    return None if kind in ("text", "multimodal_text") else kind if kind in _KNOWN_KINDS else "other_content"


_KNOWN_KINDS = frozenset(("code", "thoughts", "reasoning_recap", "user_editable_context", "execution_output"))


def _role(message: dict[str, Any]) -> str:
    author = message.get("author")
    return str(author.get("role")) if isinstance(author, dict) else ""


def _time(message: dict[str, Any], before: Millis, place: Place, dates: Dates) -> Millis:
    stated = message.get("create_time")
    if stated is None:
        dates.tally.noted["dated_by_conversation"] += 1
        return before
    return dates.epoch(stated, place)
