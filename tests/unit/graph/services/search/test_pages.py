"""Pages of browse: cursors in both directions that stay where they are."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from graph.model.errors import BadInput, CursorInvalid
from graph.model.ids import NodeId
from graph.services.access.commands import command
from graph.services.knowledge.withdrawal import withdraw_source
from graph.services.search.pages import BODY, HEAD, BrowsePage, Piece, page_of, place_of
from graph.text.tokens import DEFAULT_TOKENIZER
from tests.support.world import TeamWorld
from tests.unit.graph.services.search.asking import browse, talk

REF = NodeId("ent_x")
LINES = [Piece(text="# Long", key=HEAD), *(Piece(text=f"w{n} " * 40, key=(BODY, n)) for n in range(6))]


def page(lines: Sequence[Piece], cursor: str | None, size: int, *, back: bool = False) -> BrowsePage:
    place = None if cursor is None else place_of(REF, cursor, lines)
    return page_of(REF, lines, place, size, DEFAULT_TOKENIZER, back=back)


def words(*pages: BrowsePage) -> list[str]:
    return [word for one in pages for word in one.text.split()]


@pytest.mark.req("RE-34", "KN-113")
@pytest.mark.parametrize("sizes", [(7, 100), (100, 7), (13, 13), (1, 90)])
def test_another_size_of_the_pages_makes_no_gap_and_no_repeat(sizes: tuple[int, int]) -> None:
    first = page(LINES, None, sizes[0])
    read, cursor = [first], first.next
    while cursor is not None:
        read.append(page(LINES, cursor, sizes[len(read) % 2]))
        cursor = read[-1].next
    assert words(*read) == words(page(LINES, None, 10_000))
    assert all(one.tokens <= max(sizes) for one in read)


@pytest.mark.req("RE-34")
def test_reading_back_from_the_end_reads_the_same() -> None:
    last = page(LINES, None, 30)
    while last.next is not None:
        last = page(LINES, last.next, 30)
    read = [last]
    while read[0].previous is not None:
        read.insert(0, page(LINES, read[0].previous, 30, back=True))
    assert words(*read) == words(page(LINES, None, 10_000))


@pytest.mark.req("RE-34", "KN-113")
def test_lines_that_come_or_go_between_pages_move_no_other() -> None:
    first = page(LINES, None, 90)
    rest = words(page(LINES, first.next, 10_000))
    early = Piece(text="early", key=(BODY, -1))
    assert words(page([LINES[0], early, *LINES[1:]], first.next, 10_000)) == rest
    assert words(page([*LINES[:2], *LINES[3:]], first.next, 10_000)) == rest
    gone = page(LINES[:3], page(LINES, first.next, 45).next, 10_000)
    assert (gone.text, gone.next) == ("", None)
    assert words(page(LINES[:3], gone.previous, 10_000, back=True)) == words(page(LINES[:3], None, 10_000))


class Looking:
    """Counts with the default, and how many characters it was shown."""

    name = "looking"

    def __init__(self) -> None:
        self.shown = 0

    def count(self, text: str) -> int:
        self.shown += len(text)
        return DEFAULT_TOKENIZER.count(text)

    def cut_to(self, text: str, budget: int) -> str:
        self.shown += len(text)
        return DEFAULT_TOKENIZER.cut_to(text, budget)


@pytest.mark.req("RE-34")
@pytest.mark.parametrize("line", ["word " * 2_000, "字" * 10_000, "x" + " " * 9_998 + "x"])
def test_a_long_line_is_looked_at_a_few_times_however_small_its_pages_are(line: str) -> None:
    looking = Looking()
    first = page_of(REF, [Piece(text=line, key=HEAD)], None, 1, looking, back=False)
    assert first.tokens == 1
    assert first.next is not None
    assert looking.shown < 20 * len(line)


@pytest.mark.req("KN-113")
def test_a_cursor_of_another_ref_or_form_is_refused() -> None:
    cursor = page(LINES, None, 30).next
    assert cursor is not None
    with pytest.raises(CursorInvalid):
        place_of(NodeId("ent_y"), cursor, LINES)
    with pytest.raises(CursorInvalid):
        place_of(REF, cursor, [Piece(text="said", key=(BODY, 0, 1, "s"))])


@pytest.mark.req("RE-34", "KN-67")
async def test_a_message_withdrawn_between_pages_hides_no_other(world: TeamWorld) -> None:
    ids = await talk(world, world.ops, [f"note {n}" for n in range(9)])
    conversation = (await world.open(world.ops)).id
    first = await browse(world, conversation, max_tokens=60)
    assert 1 < first.text.count("note") < 9
    await command(world.deps, world.caller(world.host), lambda cmd: withdraw_source(cmd, ids[0], None))
    rest = await browse(world, conversation, after=first.next)
    shown = [line.partition(": ")[2] for line in (first.text + "\n" + rest.text).splitlines()]
    assert shown == [f"note {n}" for n in range(9)]


@pytest.mark.req("RE-34")
async def test_reading_begins_at_the_message_behind_long_ones(world: TeamWorld) -> None:
    ids = await talk(world, world.ops, ["long " * 300, "short", "last"])
    page = await browse(world, ids[1], max_tokens=100)
    assert [line.partition(": ")[2] for line in page.text.splitlines()] == ["short", "last"]
    assert page.previous is not None
    assert "long" in (await browse(world, ids[1], before=page.previous)).text
    with pytest.raises(BadInput):
        await browse(world, ids[1], max_tokens=0)
