"""Ids inside and outside: what they tell, and what makes two things the same."""

from __future__ import annotations

import pytest

from graph.model.ids import GlobalId, WorkspaceId, hosted_id


@pytest.mark.req("AD-3", "AD-2")
def test_a_local_id_means_something_only_in_its_container() -> None:
    """The container of an Item is its Session, so the copies of a fork keep the local ids of the originals."""
    original = hosted_id("itm", "w1", "item-7", container="session-1")
    copy = hosted_id("itm", "w1", "item-7", container="session-2")
    assert original != copy
    assert original.rsplit("/", 1)[1] == copy.rsplit("/", 1)[1] == "item-7"
    assert hosted_id("itm", "w1", "item-7", container="session-1") == original
    assert hosted_id("itm", "w2", "item-7", container="session-1") != original


@pytest.mark.req("AD-1", "KN-15")
def test_outside_an_id_is_reversible_and_shows_neither_kind_nor_local_id() -> None:
    node = hosted_id("prn", "w1", "mallory", container="human")
    text = GlobalId(kind="Principal", workspace=WorkspaceId("w1"), node=node).encode()
    decoded = GlobalId.decode(text)
    assert decoded is not None
    assert (decoded.kind, decoded.workspace, decoded.node) == ("Principal", "w1", node)
    assert "mallory" not in text
    assert "Principal" not in text


@pytest.mark.req("AD-1")
def test_no_id_outside_begins_like_an_option_of_a_command_line() -> None:
    for number in range(500):
        named = GlobalId(kind="Entry", workspace=WorkspaceId("w1"), node=hosted_id("ent", "w1", f"{number}"))
        text = named.encode()
        assert not text.startswith("-")
        assert GlobalId.decode(text) == named
