"""Agents in sandboxes, and what they learn from run to run."""
