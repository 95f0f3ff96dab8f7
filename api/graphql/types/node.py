"""The interface of everything that has an id."""

from __future__ import annotations

import strawberry


@strawberry.interface(description="Anything with an id; every kind answers to node, provenance, explainVisibility.")
class Node:
    """Anything with an id."""

    id: strawberry.ID
