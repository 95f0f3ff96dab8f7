"""Any GraphQL document: the whole service is reachable so (KN-121)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from rootward.service.calls import Ask, Reply
from rootward.service.failures import UnexpectedAnswer, failure_of_graphql
from rootward.service.operations import operation
from rootward.service.shapes import shaped

T = TypeVar("T")

PATH: Final = "/graphql"


@operation("POST", PATH)
def execute(
    document: str,
    variables: Mapping[str, Any] | None = None,
    *,
    operation_name: str | None = None,
    repeatable: bool = False,
) -> Ask[Mapping[str, Any]]:
    """Run a GraphQL operation and return its `data`.

    Args:
        document: one or more operations.
        variables: as the document declares them.
        operation_name: which one, if there are more.
        repeatable: it may be sent again where no answer came: a query, or a mutation with an idempotency key.

    Raises:
        ServiceError: there are errors; the first one counts, with its code, status and details.
    """
    body = {"query": document, "variables": dict(variables or {}), "operationName": operation_name}
    return Ask(body=body, read=data_of, repeatable=repeatable)


def field_of(document: str, variables: Mapping[str, Any], read: Callable[[Any], T]) -> Ask[T]:
    """Ask for a document of one repeatable field, called ``it``, and make a value of that."""
    body = {"query": document, "variables": dict(variables)}
    return Ask(body=body, read=lambda reply: read(_it(reply)), repeatable=True)


def shapes(kind: type[T]) -> Callable[[Any], T]:
    """Return what makes a `kind` of a field."""
    return lambda given: shaped(kind, given)


def data_of(reply: Reply) -> Mapping[str, Any]:
    """Return the data of an answer.

    Raises:
        ServiceError: it has errors.
    """
    answer = reply.json()
    if not isinstance(answer, dict):
        raise UnexpectedAnswer("the answer is no object", status=reply.status)
    if answer.get("errors"):
        raise failure_of_graphql(answer["errors"])
    if not isinstance(answer.get("data"), dict):
        raise UnexpectedAnswer("the answer has no data", status=reply.status)
    data: Mapping[str, Any] = answer["data"]
    return data


def _it(reply: Reply) -> Any:
    data = data_of(reply)
    if "it" not in data:
        raise UnexpectedAnswer("the answer has not the field that was asked for", status=reply.status)
    return data["it"]
