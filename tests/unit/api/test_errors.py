"""The table of errors knows every class of the tree."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from api.errors import TABLE, row_of
from graph.model import errors
from graph.model.errors import OperationRejected, RootwardError, StoreError


def tree(kind: type[RootwardError]) -> Iterator[type[RootwardError]]:
    """Yield a class and all below it that the core declares."""
    if kind.__module__ == errors.__name__:
        yield kind
    for below in kind.__subclasses__():
        yield from tree(below)


@pytest.mark.req("AD-24")
@pytest.mark.parametrize("kind", sorted(set(tree(RootwardError)), key=str))
def test_every_error_has_a_row_with_its_own_code(kind: type[RootwardError]) -> None:
    assert kind in TABLE
    assert TABLE[kind].code == kind.code
    assert 400 <= TABLE[kind].http < 600
    assert TABLE[kind].json_rpc < 0


def test_what_is_not_in_the_tree_is_internal() -> None:
    assert row_of(ZeroDivisionError()).code == "INTERNAL"


def test_an_adapters_own_error_takes_the_row_of_its_parent() -> None:
    class Broken(StoreError):
        """An error of an adapter."""

    assert row_of(Broken("broken")).code == "STORE_UNAVAILABLE"


def test_a_rejected_operation_shows_the_contracts_code() -> None:
    assert OperationRejected("QUOTE_NOT_VERBATIM", "quote the source").wire_code == "QUOTE_NOT_VERBATIM"
