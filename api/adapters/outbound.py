"""Which servers of memory providers may be reached (RM-7 to RM-9)."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from api.adapters.addresses import IPNetwork, Target, parse_target
from graph.model.errors import FetchRefused, RecordsFailed, SettingsInvalid

Origin = tuple[str, str, int]
"""Scheme, host and port."""
EVERYWHERE: Final[tuple[IPNetwork, ...]] = (ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0"))


@dataclass(frozen=True, kw_only=True, slots=True)
class OutboundPolicy:
    """What the deployment allows.

    Attributes:
        require_https: nothing else, but for `origins`.
        origins: may be private and plain HTTP.
    """

    require_https: bool = True
    origins: frozenset[Origin] = frozenset()

    @classmethod
    def of(cls, *, require_https: bool, http_origins: Iterable[str]) -> OutboundPolicy:
        """Return the policy of the settings.

        Raises:
            SettingsInvalid: one of the origins is none.
        """
        return cls(require_https=require_https, origins=frozenset(map(_origin, http_origins)))

    def target(self, url: str) -> Target:
        """Return what a URL names, if its scheme may be used.

        Raises:
            RecordsFailed: ``denied``.
        """
        try:
            target = parse_target(url)
        except FetchRefused:
            raise RecordsFailed("denied") from None
        if target.scheme != "https" and self.require_https and _of(target) not in self.origins:
            raise RecordsFailed("denied")
        return target

    def networks(self, target: Target) -> tuple[IPNetwork, ...]:
        """Return which addresses that are not public a target may have all the same."""
        return EVERYWHERE if _of(target) in self.origins else ()


def _of(target: Target) -> Origin:
    return (target.scheme, target.host, target.port)


def _origin(text: str) -> Origin:
    name, allowed = "providers.http_origins", "origins such as http://10.0.0.5:8888"
    try:
        target = parse_target(text)
    except FetchRefused:
        raise SettingsInvalid(f"{name} takes {allowed}", name=name, origin="settings", allowed=allowed) from None
    if target.path != "/" or "#" in text:
        raise SettingsInvalid(f"{name} takes {allowed}", name=name, origin="settings", allowed=allowed)
    return _of(target)
