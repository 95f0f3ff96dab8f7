"""The plain in-memory reference: what the port says, in dicts. For tests and for judging the engines."""

from graph.store.memory.store import MemoryStore

__all__ = ["MemoryStore"]
