"""The production store: Neo4j 5.26 LTS and later, Community edition, no plugins."""

from graph.store.neo4j.store import Neo4jStore

__all__ = ["Neo4jStore"]
