"""The store port and its implementations: embedded (SQLite), Neo4j, in memory."""
