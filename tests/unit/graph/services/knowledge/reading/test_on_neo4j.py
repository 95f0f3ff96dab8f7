"""A choice of the tests of reading on Neo4j: every kind of question to the store is among them."""

from __future__ import annotations

import pytest

from tests.unit.graph.services.knowledge.reading.test_audit_log import (
    test_filters_combine_and_the_end_is_exclusive,
    test_trail_of_a_deleted_entry_is_reached_by_its_id,
)
from tests.unit.graph.services.knowledge.reading.test_entries import (
    test_block_and_deduction_vanish_with_their_source_and_return,
    test_block_is_stale_until_it_cites_the_new_version_or_a_human_confirms,
    test_blocks_come_by_position_in_the_version_of_the_asked_time,
    test_summary_and_alias_are_left_out_when_their_evidence_is_hidden,
)
from tests.unit.graph.services.knowledge.reading.test_entry_list import (
    test_author_is_who_changed_the_entry_or_a_current_block_last,
    test_entries_are_found_by_the_source_they_cite,
    test_filters_combine,
    test_owners_and_bases_are_those_the_caller_reads,
    test_words_in_the_name_come_before_alias_summary_and_body,
)
from tests.unit.graph.services.knowledge.reading.test_projection import (
    test_diet_case_shows_what_held_and_what_holds,
    test_read_set_of_a_base_shows_what_it_reads,
)
from tests.unit.graph.services.knowledge.reading.test_relations import (
    test_direction_type_and_time_narrow_relations,
    test_neighbourhood_does_not_walk_through_what_is_hidden,
    test_pages_of_relations_are_complete,
)

pytestmark = [pytest.mark.neo4j, pytest.mark.parametrize("engine", ["neo4j"], indirect=True)]

__all__ = [
    "test_author_is_who_changed_the_entry_or_a_current_block_last",
    "test_block_and_deduction_vanish_with_their_source_and_return",
    "test_block_is_stale_until_it_cites_the_new_version_or_a_human_confirms",
    "test_blocks_come_by_position_in_the_version_of_the_asked_time",
    "test_diet_case_shows_what_held_and_what_holds",
    "test_direction_type_and_time_narrow_relations",
    "test_entries_are_found_by_the_source_they_cite",
    "test_filters_combine",
    "test_filters_combine_and_the_end_is_exclusive",
    "test_neighbourhood_does_not_walk_through_what_is_hidden",
    "test_owners_and_bases_are_those_the_caller_reads",
    "test_pages_of_relations_are_complete",
    "test_read_set_of_a_base_shows_what_it_reads",
    "test_summary_and_alias_are_left_out_when_their_evidence_is_hidden",
    "test_trail_of_a_deleted_entry_is_reached_by_its_id",
    "test_words_in_the_name_come_before_alias_summary_and_body",
]
