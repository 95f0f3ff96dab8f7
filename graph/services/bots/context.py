"""What server calls get of a pool: the text a reader may see, and whether a saved answer still holds.

Both take the reads of one reader (`graph.services.bots.reading`); nothing here returns an unchecked entry.
Source: BM-109 to BM-115.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from graph.model.ids import NodeId
from graph.model.nodes.bots import BotEntry
from graph.services.bots.reading import PoolReads

TEXT_LIMIT: Final = 8_000
SEPARATOR: Final = "\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryContext:
    """The visible active entries that fit a limit.

    Attributes:
        text: their contents in memory order, one after the other with a line break between; none is cut.
        references: their ids, in the same order.
        has_entries: whether a visible active entry exists at all, even if none fits.
        contents: the contents one by one, as `references`.
    """

    text: str
    references: tuple[NodeId, ...]
    has_entries: bool
    contents: tuple[str, ...] = ()


async def context(reads: PoolReads, limit: int = TEXT_LIMIT) -> MemoryContext:
    """Return the memory for a prompt: entries until the first that would make the text longer than `limit`.

    What comes after that one is not even decrypted: lengths are kept in clear (BM-110).

    Args:
        reads: of the person or group that the answer is for.
        limit: code points of the text, separators included.
    """
    fitting: list[BotEntry] = []
    size, has_entries = 0, False
    async for entry in reads.active():
        has_entries = True
        size += entry.chars + (len(SEPARATOR) if fitting else 0)
        if size > limit:
            break
        fitting.append(entry)
    contents = tuple(reads.open(entry) for entry in fitting)
    return MemoryContext(
        text=SEPARATOR.join(contents),
        references=tuple(entry.id for entry in fitting),
        has_entries=has_entries,
        contents=contents,
    )


async def validate_references(reads: PoolReads, references: Collection[str]) -> bool:
    """Return whether all entries that a saved answer rests on are permitted by their sources now; reads no content.

    A purged, retracted or invalidated entry is not (BM-114); what was added since does not matter.
    """
    return await reads.support(references) == frozenset(references)
