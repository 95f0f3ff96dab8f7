"""What a scope lets through, read off the stored audiences."""

from __future__ import annotations

from graph.model import schema
from graph.model.access import Clauses, Scope, SystemScope, Viewer
from graph.model.edges import Edge
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.store.memory.tables import Tables


class Sight:
    """One scope looking at one state; clauses are decided once each."""

    def __init__(self, tables: Tables, scope: Scope) -> None:
        self._tables = tables
        self._scope = scope
        self._passed: dict[Clauses, int] = {}

    def sees(self, node: Node) -> bool:
        """True if the node may be returned."""
        scope = self._scope
        if isinstance(scope, SystemScope):
            return scope.workspace in (None, node.workspace)
        if node.workspace != scope.workspace or not schema.kinds()[type(node).__name__].guarded:
            return False
        return self.clauses_of(node.id) > 0

    def sees_edge(self, edge: Edge) -> bool:
        """True if both ends may be returned; a system scope also sees edges to placeholders."""
        ends = [self._tables.node(edge.source), self._tables.node(edge.target)]
        if isinstance(self._scope, SystemScope):
            return all(end is None or self.sees(end) for end in ends)
        return all(end is not None and self.sees(end) for end in ends)

    def clauses_of(self, id: NodeId) -> int:
        """Return how many clauses of the guarded node the scope passes: 0 means hidden, a system scope has 1."""
        scope, guard = self._scope, self._tables.guards.get(id)
        if guard is None:
            return int(isinstance(scope, SystemScope) and scope.workspace is None)
        if isinstance(scope, SystemScope):
            return int(scope.workspace in (None, guard.workspace))
        audience = self._tables.audiences.get(id)
        if audience is None or guard.workspace != scope.workspace or scope.principal in audience.excluded:
            return 0
        if scope.pools is not None and guard.pool not in scope.pools:
            return 0
        return self._clauses_passed(scope, audience.clauses)

    def _clauses_passed(self, viewer: Viewer, clauses: Clauses) -> int:
        if clauses not in self._passed:
            self._passed[clauses] = sum(1 for clause in clauses if viewer.passes_all(clause))
        return self._passed[clauses]
