import traceback

import pytest
from neo4j import exceptions as driver_errors

from graph.model.errors import AlreadyExists, RootwardError, StoreError, StoreUnavailable
from graph.store.neo4j.faults import DriverFault, TryAgain, is_lost_connection, translated

CANARY = "canary-5512"


def server_error(code: str, message: str = CANARY) -> driver_errors.Neo4jError:
    return driver_errors.Neo4jError._hydrate_neo4j(code=code, message=message)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (server_error("Neo.TransientError.Transaction.DeadlockDetected"), TryAgain),
        (server_error("Neo.ClientError.Statement.EntityNotFound"), TryAgain),
        (driver_errors.ServiceUnavailable(CANARY), TryAgain),
        (driver_errors.SessionExpired(CANARY), TryAgain),
        (ConnectionResetError(CANARY), TryAgain),
        (server_error("Neo.ClientError.Schema.ConstraintValidationFailed"), AlreadyExists),
        (server_error("Neo.ClientError.Security.Unauthorized"), StoreUnavailable),
        (server_error("Neo.ClientError.Statement.SyntaxError"), StoreError),
        (driver_errors.TransactionError(None, CANARY), StoreError),
    ],
)
def test_each_error_becomes_one_of_ours_without_a_word_of_its_message(
    error: Exception, expected: type[RootwardError]
) -> None:
    ours = translated(error)
    assert type(ours) is expected
    with pytest.raises(expected) as raised:
        raise_from(error, ours)
    assert CANARY not in "".join(traceback.format_exception(raised.value))


def raise_from(error: Exception, ours: RootwardError) -> None:
    try:
        raise error
    except type(error) as caught:
        raise ours from DriverFault(caught)


@pytest.mark.parametrize(
    "message",
    [
        "Node(5) already exists with label `Node` and property `id` = 'ent_1'",
        "Cannot delete node<5>, because it still has relationships.",
    ],
)
def test_a_lost_race_is_tried_again(message: str) -> None:
    assert type(translated(server_error("Neo.ClientError.Schema.ConstraintValidationFailed", message))) is TryAgain


def test_a_taken_key_is_not_tried_again_even_if_its_value_looks_like_a_race() -> None:
    message = "Node(5) already exists with label `Entry` and property `liveName` = 'label `Entry`'"
    error = server_error("Neo.ClientError.Schema.ConstraintValidationFailed", message)
    assert translated(error).details == {
        "kind": "Entry",
        "key_fields": ("pool", "live_name"),
    }


def test_only_a_broken_connection_leaves_the_outcome_of_a_commit_open() -> None:
    assert is_lost_connection(driver_errors.IncompleteCommit())
    assert is_lost_connection(ConnectionResetError())
    assert not is_lost_connection(server_error("Neo.TransientError.Transaction.DeadlockDetected"))
