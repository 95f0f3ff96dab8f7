"""A text that no store ever sees: it is encrypted before it becomes part of a node. Source: BM-184, BM-187."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sealed:
    """An encrypted text as a node carries it; only `graph.store.sealing.Vault` makes and opens one.

    Attributes:
        data: the envelope: form, key id, wrapped data key, nonce and ciphertext.
    """

    data: bytes

    def __repr__(self) -> str:
        return f"Sealed({len(self.data)} bytes)"
