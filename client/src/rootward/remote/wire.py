"""What the library says in the words of the routes, and what the routes refuse in the words of the library. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, Final

from rootward.errors import (
    InvalidConversationId,
    InvalidLayout,
    InvalidSegment,
    MemoryLayoutClash,
    NotThroughService,
    PathRefused,
    RootwardError,
    SandboxClosedError,
    SegmentTooLarge,
)
from rootward.sandbox.layout import MemoryLayoutConfig
from rootward.sandbox.manifest import Manifest
from rootward.sandbox.memory import Memory, MemoryGenerateConfig, MemoryReadConfig
from rootward.sandbox.segments import Segment, encode
from rootward.service.failures import ServiceError

_IDS: Final = ("conversation_id", "session_id", "group_id")
_NOT_OF_SEGMENTS: Final = ("updated_at", "rollout_id")


def memory_body(memory: Memory) -> dict[str, Any]:
    """Return the `memory` of SB-107; what is as the library has it is left to the service's own settings.

    Raises:
        NotThroughService: a model of `generate` is an object; the service, which asks it, knows names alone.
    """
    return {
        "read": _option(memory.read, MemoryReadConfig()),
        "generate": generate_body(memory.generate),
        "layout": layout_body(memory.layout),
    }


def generate_body(generate: MemoryGenerateConfig | None) -> dict[str, Any] | bool:
    """Return `generate` of a run or of a rollout; raises `NotThroughService` as `memory_body`."""
    made = _option(generate, MemoryGenerateConfig())
    if isinstance(made, dict) and not all(isinstance(made.get(f"phase_{n}_model", ""), str) for n in ("one", "two")):
        raise NotThroughService("the service makes memory itself: name models that it knows instead of giving objects")
    return False if made is None else made


def layout_body(layout: MemoryLayoutConfig) -> dict[str, str]:
    """Return the two directories."""
    return {"memories_dir": layout.memories_dir, "sessions_dir": layout.sessions_dir}


def manifest_body(manifest: Manifest) -> dict[str, Any]:
    """Return the `manifest` of SB-104.

    Raises:
        NotThroughService: a content is bytes that are no UTF-8.
    """
    files = manifest.files.items()
    return {"entries": {path: {"type": "file", "content": text_of(path, data)} for path, data in files}}


def text_of(path: str, data: bytes) -> str:
    """Return the content of a file as the routes take it.

    Raises:
        NotThroughService: it is no UTF-8.
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise NotThroughService(f"{path!r} is no UTF-8: the service takes texts") from None


def segment_body(segment: Segment) -> tuple[dict[str, Any], int]:
    """Return a segment as it would be recorded, without what may not be, and the bytes that it takes as a line.

    Raises:
        InvalidSegment: something in it cannot be written as JSON.
    """
    line = encode(segment, rollout_id="", updated_at="")
    members = json.loads(line)
    return {name: value for name, value in members.items() if name not in _NOT_OF_SEGMENTS}, len(line)


@contextmanager
def refusing(size: int = 0) -> Iterator[None]:
    """Raise what a local sandbox raises, where the service refuses the same thing.

    Args:
        size: bytes of the segment, if one was sent.
    """
    try:
        yield
    except ServiceError as error:
        raise _translated(error, size) from error


def _translated(error: ServiceError, size: int) -> RootwardError:
    path, where, field = error.path or "", *(error.path or "").partition(".")[::2]
    if error.reason == "session_closed":
        return SandboxClosedError("this sandbox session is closed; resume it, or start one from a snapshot")
    if error.reason == "memory_layout":
        return MemoryLayoutClash("the layout, or its generate configuration, does not go with another of this session")
    if error.code == "payload_too_large" and size:
        return SegmentTooLarge(size=size, limit=int(error.details.get("limit") or 0))
    if path in _IDS:
        return InvalidConversationId(path)
    if where == "layout":
        return InvalidLayout(field or "memories_dir", "cannot hold memory in the service")
    if where == "segment":
        return InvalidSegment(str(error))
    return PathRefused(str(error)) if path in ("path", "prefix", "manifest.entries") else error


def _option(given: Any, default: Any) -> dict[str, Any] | bool | None:
    """Return what differs from the defaults; True: nothing does; None: it is off."""
    if given is None:
        return None
    pairs: Mapping[str, Any] = {field.name: getattr(given, field.name) for field in fields(given)}
    return {name: value for name, value in pairs.items() if value != getattr(default, name)} or True
