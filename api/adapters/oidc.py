"""Verifies bearer tokens of an OIDC issuer: signature, issuer, audience, times, nonce (AD-12).

Signatures and claims are checked by `joserfc`. The issuer's keys are fetched from where its discovery document says,
kept for an hour by the service's clock, and fetched again, at most once a minute, when a token names a key that is
not among them. Only asymmetric algorithms are taken. Source: OpenID Connect Discovery 1.0, RFC 7519, RFC 8725.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import httpx2
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import Key, KeySet

from graph.model.errors import SettingsInvalid
from graph.model.ids import WorkspaceId
from graph.model.time import Clock, Millis
from graph.services.access.caller import Caller
from graph.services.access.oidc import Identity, sign_in
from graph.services.access.tokens import refused
from graph.services.deps import Deps
from graph.text.outside import has_surrogate

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
KEYS_MS = 3_600_000
OLD_KEYS_MS = 86_400_000
"""So long the last keys serve while the issuer cannot be reached."""

REFETCH_MS = 60_000
LEEWAY_S = 60
TIMEOUT_S = 5.0
MAX_BYTES = 262_144
MAX_CLAIM = 255
DEFAULT_CLAIMS: Mapping[str, str] = {"principal": "sub", "organization": "org"}


class IssuerUnreachable(Exception):
    """The issuer's keys cannot be had; the message says why."""


@dataclass(kw_only=True, slots=True)
class OidcVerifier:
    """Turns tokens of one issuer into identities.

    Attributes:
        claims: which claim names the principal, the organization and, under ``name``, the display name.
        http: for tests; by default a client that follows no redirects and reads no proxy variables.
    """

    issuer: str
    audience: str
    clock: Clock
    claims: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_CLAIMS))
    http: httpx2.AsyncClient | None = None
    _keys: KeySet | None = None
    _fetched_at: Millis = Millis(0)
    _tried_at: Millis | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        if not self.issuer or not self.audience:
            raise SettingsInvalid("OIDC needs an issuer and an audience", name="oidc.audience", allowed="a text")
        if not is_safe_address(self.issuer):
            raise SettingsInvalid("an OIDC issuer has an https address", name="oidc.issuer", allowed="https://…")

    async def verify(self, token: str, *, nonce: str | None = None) -> Identity:
        """Return whom a token names.

        Args:
            token: a signed JWT in its compact form.
            nonce: if given, the token must carry it.

        Raises:
            Unauthenticated: for whatever reason; all look alike.
        """
        try:
            return self._identity(await self._claims(token, nonce))
        except (JoseError, IssuerUnreachable, ValueError) as error:
            raise refused() from error

    async def _claims(self, token: str, nonce: str | None) -> Mapping[str, Any]:
        if token.count(".") != 2:
            raise ValueError("not a signed token")
        claims = (await self._decode(token)).claims
        wanted: dict[str, Any] = {
            "iss": {"essential": True, "value": self.issuer},
            "aud": {"essential": True, "value": self.audience},
            "exp": {"essential": True},
        }
        if nonce is not None:
            wanted["nonce"] = {"essential": True, "value": nonce}
        registry = jwt.JWTClaimsRegistry(now=self.clock.now() // 1_000, leeway=LEEWAY_S, **wanted)
        registry.validate(claims)
        return claims

    async def _decode(self, token: str) -> jwt.Token:
        keys = await self._key_set()
        try:
            return jwt.decode(token, keys, algorithms=ALGORITHMS)
        except InvalidKeyIdError:  # perhaps a new key
            return jwt.decode(token, await self._key_set(again=True), algorithms=ALGORITHMS)

    def _identity(self, claims: Mapping[str, Any]) -> Identity:
        name = self.claims.get("principal", "sub")
        if name == "email" and claims.get("email_verified") is not True:
            raise ValueError("the address was not verified")
        subject = _text(claims.get(name))
        if subject is None:
            raise ValueError("the token names nobody")
        organization = self.claims.get("organization")
        return Identity(
            subject=subject,
            organization=_text(claims.get(organization)) if organization else None,
            display_name=_text(claims.get(self.claims.get("name", "name"))),
        )

    async def _key_set(self, *, again: bool = False) -> KeySet:
        async with self._turn:
            now = self.clock.now()
            fresh = self._keys is not None and now - self._fetched_at < KEYS_MS
            lately = self._tried_at is not None and now - self._tried_at < REFETCH_MS
            if self._keys is not None and ((fresh and not again) or lately):
                return self._keys
            if lately:
                raise IssuerUnreachable("the keys were asked for a moment ago")
            self._tried_at = now
            try:
                self._keys, self._fetched_at = await self._fetch(), now
            except IssuerUnreachable:
                if self._keys is None or now - self._fetched_at >= OLD_KEYS_MS:
                    raise
            return self._keys

    async def _fetch(self) -> KeySet:
        client = self.http or httpx2.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False, trust_env=False)
        try:
            document = await _get_json(client, self.issuer.rstrip("/") + "/.well-known/openid-configuration")
            if document.get("issuer") != self.issuer:
                raise IssuerUnreachable("the discovery document is of another issuer")
            address = str(document.get("jwks_uri", ""))
            if not is_safe_address(address):
                raise IssuerUnreachable("the keys have no https address")
            return _public_keys(await _get_json(client, address))
        finally:
            if self.http is None:
                await client.aclose()


@dataclass(frozen=True, kw_only=True, slots=True)
class OidcSignIn:
    """From a credential to a caller; what `api.auth` calls for credentials that are not tokens of our own."""

    deps: Deps
    verifier: OidcVerifier
    workspace: WorkspaceId
    auto_create: bool = False

    async def __call__(self, credential: str) -> Caller:
        """Return the caller.

        Raises:
            Unauthenticated: the token is not valid, or names nobody here.
        """
        identity = await self.verifier.verify(credential)
        return await sign_in(self.deps, self.workspace, identity, auto_create=self.auto_create)


def is_safe_address(url: str) -> bool:
    """True for https, and for http on this machine itself.

    >>> is_safe_address("https://id.example"), is_safe_address("http://id.example"), is_safe_address("http://127.0.0.1")
    (True, False, True)
    """
    parts = urlsplit(url)
    if not parts.hostname:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname))


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


async def _get_json(client: httpx2.AsyncClient, url: str) -> dict[str, Any]:
    try:
        async with client.stream("GET", url, headers={"accept": "application/json"}) as response:
            if response.status_code != 200:
                raise IssuerUnreachable(f"the issuer answered {response.status_code}")
            body = b""
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MAX_BYTES:
                    raise IssuerUnreachable("the issuer's answer is too long")
        found = json.loads(body)
    except (httpx2.HTTPError, ValueError, RecursionError) as error:
        raise IssuerUnreachable("the issuer does not answer with JSON") from error
    if not isinstance(found, dict):
        raise IssuerUnreachable("the issuer does not answer with a JSON object")
    return found


def _public_keys(document: Mapping[str, Any]) -> KeySet:
    """Return the keys that may sign; shared secrets, keys of other use and of kinds not known here are left out.

    Source: RFC 7517, section 5: a key that is not understood must not spoil the others.
    """
    listed = document.get("keys")
    usable = [made for key in listed if _may_sign(key) for made in _made(key)] if isinstance(listed, list) else []
    if not usable:
        raise IssuerUnreachable("the issuer has no keys that sign")
    return KeySet(usable)


def _made(key: Any) -> list[Key]:
    """Return a key of a set as one that verifies; none of what cannot be read."""
    try:
        return KeySet.import_key_set({"keys": [key]}).keys
    except (JoseError, ValueError, TypeError, LookupError):  # a curve without a name here is a KeyError
        return []


def _may_sign(key: Any) -> bool:
    if not isinstance(key, dict) or key.get("kty") not in ("RSA", "EC", "OKP"):
        return False
    return bool(key.get("use", "sig") == "sig")


def _text(value: Any) -> str | None:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_CLAIM or has_surrogate(value):
        return None
    return value
