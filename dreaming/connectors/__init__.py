"""Bringing documents of connectors in: `sync_connector` looks at one place and settles what changed there."""

from dreaming.connectors.sync import sync_connector

__all__ = ["sync_connector"]
