"""Errors of GraphQL as clients see them: a code, a message that tells what to do, and nothing of what was sent.

Messages of the library quote the document and its values, so they are kept only as far as they consist of names of the
schema. What is not in our own tree is masked and logged without content. Source: KN-110, AD-24, AD-42, case 15.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from graphql import GraphQLError
from graphql.error import GraphQLSyntaxError

from api.errors import MASKED, row_of
from api.graphql.ids import outward
from api.graphql.refusals import camel, worded
from api.graphql.tagging import Tagged
from api.observability import log_fault
from graph.model.errors import RootwardError, WorkspaceRefused
from graph.model.ids import WorkspaceId
from graph.services.deps import Figures

_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_VALUE = re.compile(r"\s*got invalid value.*", re.DOTALL)
_CUT = re.compile(r"\s*(?:Did you mean|found |;|:(?!\)')).*", re.DOTALL)
"""What follows may be quoted from the document; ``:)'`` ends the name of an argument."""
_NAME = re.compile(r"[_A-Za-z][_0-9A-Za-z]*")


def wire_errors(
    errors: Sequence[GraphQLError], workspace: WorkspaceId, names: Collection[str], figures: Figures
) -> list[dict[str, Any]]:
    """Return errors in the form of the answer; `names` are those of the schema."""
    made = [wire_error(error, workspace, names) for error in errors]
    for one in made:
        figures.count("graphql_errors", code=one["extensions"]["code"])
    return made


def wire_error(error: GraphQLError, workspace: WorkspaceId, names: Collection[str]) -> dict[str, Any]:
    """Return one error in the form of the answer."""
    body: dict[str, Any] = _told(error, workspace, names)
    if error.path:
        body["path"] = error.path
    if error.locations:
        body["locations"] = [place.formatted for place in error.locations]
    return body


def wire_own(error: RootwardError, workspace: WorkspaceId) -> dict[str, Any]:
    """Return an error of our own tree: code, status and details beside the message."""
    own = worded(error.details, workspace) if isinstance(error, WorkspaceRefused) else dict(error.details)
    details = outward(own, workspace)
    extensions = {"code": error.wire_code, "status": row_of(error).http, **_camel(details)}
    return {"message": error.message, "extensions": extensions}


def _wire_tagged(tagged: Tagged, workspace: WorkspaceId) -> dict[str, Any]:
    """Return an error under the name of its surface."""
    body = wire_own(tagged.own, workspace)
    body["extensions"]["code"] = tagged.tag
    if tagged.path is not None:
        body["extensions"]["path"] = tagged.path
    return body


def _told(error: GraphQLError, workspace: WorkspaceId, names: Collection[str]) -> dict[str, Any]:
    tagged = next((e for e in _causes(error) if isinstance(e, Tagged)), None)
    if tagged is not None:
        return _wire_tagged(tagged, workspace)
    own = next((e for e in _causes(error) if isinstance(e, RootwardError)), None)
    if own is not None and own.code != RootwardError.code:
        return wire_own(own, workspace)
    if error.path is None:
        # Raised before any resolver ran: the document or a value does not fit.
        return _refused(_safe(error, names))
    log_fault(error.original_error or error)
    return {"message": MASKED, "extensions": {"code": RootwardError.code, "status": 500}}


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(10):
        if error is None:
            return
        yield error
        error = error.original_error if isinstance(error, GraphQLError) else None


def _refused(message: str) -> dict[str, Any]:
    return {"message": message, "extensions": {"code": "BAD_INPUT", "status": 400}}


def _safe(error: GraphQLError, names: Collection[str]) -> str:
    if error.original_error is not None and not isinstance(error.original_error, GraphQLError):
        return "a value does not have the type that the schema declares"
    if isinstance(error, GraphQLSyntaxError):
        return "the document is not GraphQL; see locations"
    text = _QUOTED.sub(lambda match: _known(match[1] or match[2] or "", names), error.message)
    text = _VALUE.sub(" has a value that does not fit", text)
    return _CUT.sub("", text).strip().rstrip(".,") or "the request does not fit the schema"


def _known(quoted: str, names: Collection[str]) -> str:
    words = _NAME.findall(quoted)
    return f"'{quoted}'" if words and all(word in names for word in words) and len(quoted) < 200 else "'…'"


def _camel(details: Any) -> dict[str, Any]:
    if not isinstance(details, dict):
        return {}
    return {camel(key): value for key, value in details.items()}
