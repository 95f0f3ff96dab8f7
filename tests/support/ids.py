"""Ids that tests can foretell."""

from __future__ import annotations

from graph.model.ids import encode_body


class SequentialIds:
    """Gives bodies of 26 characters that count up, so that later ids sort behind earlier ones.

    >>> ids = SequentialIds()
    >>> ids.new(), ids.new()
    ('00000000000000000000000001', '00000000000000000000000002')
    """

    def __init__(self, start: int = 1) -> None:
        self._next = start

    def new(self) -> str:
        body = encode_body(0, self._next.to_bytes(10, "big"))
        self._next += 1
        return body
