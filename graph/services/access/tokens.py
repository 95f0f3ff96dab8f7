"""Bearer tokens ``rw_<id>_<secret>``: only the SHA-256 of the secret is kept. Source: AD-9 to AD-11."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from graph.model.access import SystemScope
from graph.model.edges import EdgeType
from graph.model.errors import BadInput, Forbidden, NotFound, StoreError, Unauthenticated
from graph.model.ids import NodeId
from graph.model.nodes.people import Principal, PrincipalKind, Right, Token
from graph.model.time import Millis, render
from graph.rules.admin_chain import AdminOperation
from graph.rules.explicit import explicit_id
from graph.rules.rights import may_administer, own_rights
from graph.services.access.admin_log import record_admin
from graph.services.access.caller import Caller
from graph.services.access.commands import Command
from graph.services.access.people import ADMINISTRATION, find_one, hold_one
from graph.services.access.session import Session
from graph.services.deps import Deps
from graph.store.port import Reader, Writer
from graph.store.query import And, By, Direction, Eq, Find

SIGN_IN = SystemScope(reason="look up a credential")
SECRET_BYTES = 24
_FORM = re.compile(r"rw_([0-9a-z]{1,64})_([0-9a-f]{40,128})")
_NO_HASH = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class MintedToken:
    """A new token; `text` is shown once and never stored."""

    token: Token
    text: str = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenInfo:
    """What lists show of a token: all but its secret (AD-10).

    Attributes:
        last_used_day: UTC day of its last use, ``YYYY-MM-DD``.
        rights: if not None, it carries only these.
    """

    id: NodeId
    principal_id: NodeId
    created_at: Millis
    expires_at: Millis
    last_used_day: str | None
    revoked_at: Millis | None
    rights: tuple[Right, ...] | None
    organization_id: NodeId | None


async def create_token(
    cmd: Command,
    principal_id: NodeId,
    *,
    expires_at: Millis,
    rights: Collection[Right] | None = None,
    organization: NodeId | None = None,
) -> MintedToken:
    """Make a token: an admin for anyone of his workspace, anyone for himself with no more than he has.

    Without `rights` it carries what its principal has, for oneself what the present credential carries.

    Raises:
        NotFound: no such principal for the caller, or he is no member of the organization.
        BadInput: the expiry is not in the future, or the principal is not named.
        Forbidden: for oneself, a right that one has not, or another organization than the credential's.
    """
    own = explicit_id(principal_id, "principalId") == cmd.caller.principal
    if cmd.facts.disabled or not (own or may_administer(cmd.facts)):
        raise NotFound
    if expires_at <= cmd.at:
        raise BadInput("a token expires in the future", field="expiresAt")
    principal = await hold_one(cmd, principal_id, Principal)
    if own:
        rights, organization = _within(cmd, rights, organization)
    await _check_member(cmd.writer, principal.id, organization)
    minted = await mint_token(
        cmd.writer, cmd.deps, principal, expires_at=expires_at, rights=rights, organization=organization
    )
    codes = {"token": minted.token.id, "rights": None if rights is None else [str(r) for r in sorted(rights)]}
    await record_admin(cmd, AdminOperation.TOKEN_CREATE, principal.id, codes)
    return minted


async def list_tokens(session: Session, principal_id: NodeId | None = None) -> tuple[TokenInfo, ...]:
    """Return the tokens of a principal, by default one's own, newest first; an admin may ask for anyone's.

    Raises:
        NotFound: somebody else's, for all but admins.
    """
    wanted = session.caller.principal if principal_id is None else explicit_id(principal_id, "principalId")
    if wanted != session.caller.principal and not may_administer(session.facts):
        raise NotFound
    where = And((Eq("principal_id", wanted), Eq("workspace", session.caller.workspace)))
    page = await session.reader.find(
        ADMINISTRATION, Find(kind=Token, where=where, order=By("created_at", descending=True))
    )
    return tuple(info_of(token) for token in page.nodes)


async def revoke_token(cmd: Command, token_id: NodeId) -> TokenInfo:
    """Make a token worthless from the next request on; revoking it again changes nothing.

    Raises:
        NotFound: no such token, or, for all but admins, somebody else's.
    """
    token = await find_one(cmd, explicit_id(token_id, "id"), Token)
    if token.principal_id != cmd.caller.principal and not may_administer(cmd.facts):
        raise NotFound
    await cmd.writer.lock([token.id])
    token = await find_one(cmd, token.id, Token)
    if token.revoked_at is None:
        token = replace(token, revoked_at=cmd.at)
        await cmd.writer.patch(token.id, {"revoked_at": cmd.at})
        await record_admin(cmd, AdminOperation.TOKEN_REVOKE, token.principal_id, {"token": token.id})
    return info_of(token)


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
    except StoreError:  # a store that takes no writes still lets people read
        deps.figures.count("token_use_not_noted")


def _within(
    cmd: Command, rights: Collection[Right] | None, organization: NodeId | None
) -> tuple[Collection[Right] | None, NodeId | None]:
    """Return rights and organization of a token for oneself, no wider than those of the present credential."""
    carried = cmd.facts.token_rights
    if rights is not None and not set(rights) <= own_rights(cmd.facts):
        raise Forbidden("a token for oneself carries no right that one has not")
    if cmd.caller.organization is not None and organization not in (None, cmd.caller.organization):
        raise Forbidden("a token for oneself names the organization of the present credential")
    return carried if rights is None else rights, organization or cmd.caller.organization


async def _check_member(reader: Reader, principal: NodeId, organization: NodeId | None) -> None:
    if organization is None:
        return
    edges = await reader.edges(ADMINISTRATION, [principal], [EdgeType.MEMBER_OF], Direction.OUT)
    if organization not in {edge.target for edge in edges}:
        raise NotFound


def info_of(token: Token) -> TokenInfo:
    """Return what lists show of a token."""
    return TokenInfo(
        id=token.id,
        principal_id=token.principal_id,
        created_at=token.created_at,
        expires_at=token.expires_at,
        last_used_day=token.last_used_day,
        revoked_at=token.revoked_at,
        rights=None if token.rights is None else tuple(Right(right) for right in token.rights),
        organization_id=token.organization_id,
    )


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
