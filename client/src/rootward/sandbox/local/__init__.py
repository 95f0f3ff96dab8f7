"""Sandboxes on a local directory, without a service."""

from rootward.sandbox.local.client import UnixLocalSandboxClient
from rootward.sandbox.local.session import LocalSandboxSession
from rootward.sandbox.local.snapshot import Snapshot

__all__ = ["LocalSandboxSession", "Snapshot", "UnixLocalSandboxClient"]
