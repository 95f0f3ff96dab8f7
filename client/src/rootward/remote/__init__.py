"""Sandbox sessions whose workspace and memory lie in a service. Source: SB-119."""

from rootward.remote.client import ServiceSandboxClient
from rootward.remote.session import ServiceSandboxSession

__all__ = ["ServiceSandboxClient", "ServiceSandboxSession"]
