"""The declaration of kinds: every id names one kind."""

from __future__ import annotations

from collections import Counter

from graph.model.nodes.bots import BotEntry
from graph.model.nodes.learning import ResidentMemo
from graph.model.schema import KINDS, kind_of, kinds, kinds_by_prefix


def test_every_kind_has_a_prefix_of_its_own_and_only_those_that_say_so_share_one() -> None:
    own = Counter(kind.PREFIX for kind in KINDS if not kind.SHARES_PREFIX)
    sharing = Counter(kind.PREFIX for kind in KINDS if kind.SHARES_PREFIX)
    assert set(own.values()) == {1}
    assert set(sharing.values()) == {1}
    assert len(kinds_by_prefix()) == len(kinds()) == len(KINDS)


def test_a_memo_is_known_by_its_path_and_an_entry_of_a_bot_by_having_none() -> None:
    memo, entry = kind_of("mem_w/atlas/shared"), kind_of("mem_7c1e90ab34d25f68")
    assert memo is not None
    assert entry is not None
    assert (memo.node, entry.node) == (ResidentMemo, BotEntry)


def test_a_path_is_nothing_special_where_no_prefix_is_shared() -> None:
    for text in ("ses_w//s1", "prn_w/agent/a"):
        kind = kind_of(text)
        assert kind is not None
        assert kind.prefix == text[:3]
    assert kind_of("zzz_1") is kind_of("nothing") is None
