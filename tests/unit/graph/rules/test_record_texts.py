"""Places in the list of a record memory."""

import pytest

from graph.model.errors import WorkspaceRefused
from graph.model.ids import NodeId
from graph.rules.record_texts import cursor_of, offset_of

MEMORY = NodeId("wsm_1")


@pytest.mark.req("RM-41")
@pytest.mark.parametrize("place", [-1, 2**31, 10**4000])
def test_a_place_that_no_list_has_is_refused(place: int) -> None:
    with pytest.raises(WorkspaceRefused) as refused:
        offset_of(MEMORY, cursor_of(MEMORY, place))
    assert (refused.value.refusal, refused.value.details["field"]) == ("invalid_argument", "cursor")
