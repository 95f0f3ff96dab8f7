"""One suite for every store: memory, embedded and Neo4j give the same answers (KN-12)."""
