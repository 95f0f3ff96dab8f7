"""Sandboxes of the service: sessions, their files, and snapshots of them. Source: SB-100, SB-104 to SB-118."""
