"""Bearer tokens ``rw_<id>_<secret>``: only the SHA-256 of the secret is kept. Source: AD-9 to AD-11."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Collection
from dataclasses import dataclass

from graph.model.access import SystemScope
from graph.model.errors import NotFound, Unauthenticated
from graph.model.ids import NodeId
from graph.model.nodes.people import Principal, PrincipalKind, Right, Token
from graph.model.time import Millis, render
from graph.services.access.caller import Caller
from graph.services.deps import Deps
from graph.store.port import Reader, Writer
from graph.store.query import Eq, Find

SIGN_IN = SystemScope(reason="look up a credential")
SECRET_BYTES = 24
_FORM = re.compile(r"rw_([0-9a-z]{1,64})_([0-9a-f]{40,128})")
_NO_HASH = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class MintedToken:
    """A new token; `text` is shown once and never stored."""

    token: Token
    text: str


async def mint_token(
    writer: Writer,
    deps: Deps,
    principal: Principal,
    *,
    expires_at: Millis,
    rights: Collection[Right] | None = None,
    organization: NodeId | None = None,
) -> MintedToken:
    """Store a token of `principal` and return it with its text; who may do so is for the caller to check."""
    public_id = deps.ids.new()
    secret = deps.randomness.bytes(SECRET_BYTES).hex()
    token = Token(
        id=NodeId(f"{Token.PREFIX}_{public_id}"),
        workspace=principal.workspace,
        created_at=deps.now(),
        public_id=public_id,
        secret_hash=_hash(secret),
        principal_id=principal.id,
        organization_id=organization,
        rights=None if rights is None else tuple(sorted(rights)),
        expires_at=expires_at,
    )
    await writer.put([token])
    return MintedToken(token=token, text=f"rw_{public_id}_{secret}")


async def authenticate(deps: Deps, text: str) -> Caller:
    """Return whom a bearer token names, and note the day of its use.

    Unknown, expired, revoked and those of a disabled principal answer alike, after a comparison in constant time.

    Raises:
        Unauthenticated: the token is none of a present principal.
    """
    async with deps.store.reading() as reader:
        token = await _valid(reader, text, deps.now())
        principal = (await reader.get(SIGN_IN, [token.principal_id])).get(token.principal_id)
    if not isinstance(principal, Principal) or principal.disabled_at is not None:
        raise refused()
    await _note_use(deps, token)
    return Caller(
        workspace=token.workspace,
        principal=principal.id,
        kind=PrincipalKind(principal.kind),
        rights=None if token.rights is None else frozenset(Right(right) for right in token.rights),
        organization=token.organization_id,
    )


def refused() -> Unauthenticated:
    """Return the one answer to every credential that is not valid."""
    return Unauthenticated("send a valid token: Authorization: Bearer rw_…")


async def _valid(reader: Reader, text: str, now: Millis) -> Token:
    match = _FORM.fullmatch(text)
    public_id, secret = match.groups() if match else ("", "")
    page = await reader.find(SIGN_IN, Find(kind=Token, where=Eq("public_id", public_id), first=1))
    token = page.nodes[0] if page.nodes else None
    same = hmac.compare_digest(_hash(secret), token.secret_hash if token else _NO_HASH)
    if token is None or not same or token.revoked_at is not None or token.expires_at <= now:
        raise refused()
    return token


async def _note_use(deps: Deps, token: Token) -> None:
    day = render(deps.now())[:10]
    if token.last_used_day == day:
        return

    async def work(writer: Writer) -> None:
        await writer.patch(token.id, {"last_used_day": day})

    try:
        await deps.store.transact(work)
    except NotFound as error:
        raise refused() from error


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
