"""Keeps vectors in a file between runs, by model and text: embedding thousands of turns takes minutes."""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graph.ports import Embedder, EmbedderMaker, EmbeddingChoice


class KeptVectors:
    """An `EmbedderMaker` whose embedders ask the file first; without a file they only pass on."""

    def __init__(self, inner: EmbedderMaker, file: Path | None) -> None:
        self._inner = inner
        self._db = sqlite3.connect(file) if file else None
        if self._db:
            self._db.execute("CREATE TABLE IF NOT EXISTS kept(key TEXT PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    def __call__(self, choice: EmbeddingChoice) -> Embedder:
        """Return the embedder of a choice."""
        inner = self._inner(choice)
        return _Kept(inner, choice.name, self._db) if self._db else inner


@dataclass
class _Kept:
    inner: Embedder
    model: str
    db: sqlite3.Connection

    async def embed(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        keys = [self._key(text, query=query) for text in texts]
        found = {key: self._look_up(key) for key in keys}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if found[key] is None}
        if missing:
            made = await self.inner.embed(list(missing.values()), query=query)
            for key, vector in zip(missing, made, strict=True):
                found[key] = vector
                self.db.execute(
                    "INSERT OR REPLACE INTO kept VALUES (?, ?)", (key, struct.pack(f"<{len(vector)}f", *vector))
                )
            self.db.commit()
        return [vector for key in keys if (vector := found[key]) is not None]

    def _key(self, text: str, *, query: bool) -> str:
        return hashlib.sha256(f"{self.model}|{query}|{text}".encode()).hexdigest()

    def _look_up(self, key: str) -> Sequence[float] | None:
        row = self.db.execute("SELECT vector FROM kept WHERE key = ?", (key,)).fetchone()
        return struct.unpack(f"<{len(row[0]) // 4}f", row[0]) if row else None
