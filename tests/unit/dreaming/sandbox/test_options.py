"""What a runtime asks for is compared as it asked, also after the settings of the service have changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dreaming.sandbox.options import MemoryOptions, memory_of
from dreaming.sandbox.rules import SandboxRules
from dreaming.sandbox.works import dumped, loaded
from graph.model.ids import WorkspaceId, node_id
from graph.model.nodes.sandbox import SandboxSession
from graph.model.time import Millis
from rootward import MemoryGenerateConfig, MemoryLayoutClash
from rootward.sandbox.work import LayoutWork, claim

BEFORE = SandboxRules()
AFTER = replace(BEFORE, generate=MemoryGenerateConfig(phase_one_model="another", max_raw_memories_for_consolidation=9))


def kept(works: list[LayoutWork]) -> list[LayoutWork]:
    """Return works as the next process reads them."""
    id_ = node_id(SandboxSession.PREFIX, "1")
    session = SandboxSession(
        id=id_, workspace=WorkspaceId("w"), pool=id_, created_at=Millis(0), status="open", created_by=id_
    )
    return loaded(replace(session, works=dumped(works)))


@pytest.mark.req("SB-96", "SB-107", "SB-121")
@pytest.mark.parametrize("given", [True, {}, {"extra_prompt": "Facts."}, {"phase_one_model": "gpt-5.4-mini"}])
def test_a_layout_stays_open_to_the_same_wish_when_settings_change(given: dict[str, object] | bool) -> None:
    options = MemoryOptions(read=None, generate=given)
    works: list[LayoutWork] = []
    first = claim(works, memory_of(options, BEFORE))
    assert first is not None
    again = claim(kept(works), memory_of(options, AFTER))
    assert again is not None
    assert again.generate == first.generate, "what was reserved counts"
    assert again.generate is not None
    assert again.generate.phase_one_model == "gpt-5.4-mini"


@pytest.mark.req("SB-96")
@pytest.mark.parametrize("rules", [BEFORE, AFTER])
def test_another_wish_clashes_before_and_after(rules: SandboxRules) -> None:
    works: list[LayoutWork] = []
    claim(works, memory_of(MemoryOptions(read=None), BEFORE))
    for other in ({"extra_prompt": "Facts."}, {"phase_two_model": "nobody"}):
        with pytest.raises(MemoryLayoutClash):
            claim(kept(works), memory_of(MemoryOptions(read=None, generate=other), rules))


@pytest.mark.req("SB-96", "SB-107")
def test_naming_a_default_is_the_same_as_leaving_it_out() -> None:
    works: list[LayoutWork] = []
    claim(works, memory_of(MemoryOptions(read=None), BEFORE))
    named = MemoryOptions(read=None, generate={"phase_one_model": "gpt-5.4-mini"})
    assert claim(kept(works), memory_of(named, BEFORE)) is not None
