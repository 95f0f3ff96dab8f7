"""A scope must be said: empty, blank and wildcard ids never stand for everything. Source: AD-5, MA-14."""

from __future__ import annotations

from graph.model.errors import BadInput
from graph.model.ids import NodeId, local_part, prefix_of

_WILDCARDS = frozenset("*%?")


def explicit_id(given: str | None, field: str) -> NodeId:
    """Return `given` if it names one object.

    Raises:
        BadInput: it is empty, blank, has no kind or no name, or holds a wildcard.

    >>> explicit_id("prn_w/human/ana", "principalId")
    'prn_w/human/ana'
    >>> explicit_id("*", "principalId")
    Traceback (most recent call last):
    graph.model.errors.BadInput: name one object by its id
    """
    text = given or ""
    if not text.strip() or not prefix_of(text) or not local_part(text).strip() or _WILDCARDS & set(text):
        raise BadInput("name one object by its id", field=field)
    return NodeId(text)
