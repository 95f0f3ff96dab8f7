"""Consolidation: what is worth keeping of a session is remembered. Source: SM-95 to SM-122."""
