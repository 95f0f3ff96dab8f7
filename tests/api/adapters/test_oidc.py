from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from joserfc import jws, jwt
from joserfc.jwk import OctKey, RSAKey

from api.adapters.blobs import open_blobs
from api.adapters.extract import DocumentExtractor
from api.adapters.oidc import OidcSignIn, OidcVerifier
from graph.model.access import SystemScope
from graph.model.errors import SettingsInvalid, Unauthenticated
from graph.model.nodes.people import Principal
from graph.rules.rights import ViewerFacts, agents_with_role
from graph.services.access.admin_log import admin_log
from graph.services.access.caller import Caller
from graph.services.access.commands import command
from graph.services.access.facts import load_facts
from graph.services.access.members import set_members
from graph.services.access.provisioning import create_organization, link_oidc, set_disabled
from graph.services.access.session import read
from graph.services.deps import Deps
from graph.store.memory import MemoryStore
from graph.store.query import Find
from graph.text.tokens import DEFAULT_TOKENIZER
from tests.support.clock import FakeClock
from tests.support.ids import SequentialIds
from tests.support.keyring import fixed_vault
from tests.support.oidc_issuer import Issuer, running_issuer
from tests.support.pages import FakeFetcher
from tests.support.randomness import SeededRandomness
from tests.support.world import TeamWorld

AUDIENCE = "rootward"
SYSTEM = SystemScope(reason="test")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with running_issuer() as made:
        yield made


@pytest.fixture
def verifier(issuer: Issuer, clock: FakeClock) -> OidcVerifier:
    return OidcVerifier(issuer=issuer.address, audience=AUDIENCE, clock=clock)


@pytest.fixture
async def world(clock: FakeClock) -> TeamWorld:
    deps = Deps(
        store=MemoryStore(clock=clock),
        clock=clock,
        ids=SequentialIds(),
        randomness=SeededRandomness(),
        tokenizer=DEFAULT_TOKENIZER,
        blobs=open_blobs("memory:///"),
        fetcher=FakeFetcher(clock),
        extractor=DocumentExtractor(),
        vault=fixed_vault(),
    )
    return await TeamWorld(deps=deps).make()


def claims(issuer: Issuer, clock: FakeClock, **changed: Any) -> dict[str, Any]:
    """Return good claims; a value of None leaves one out."""
    now = clock.now() // 1_000
    whole = {"iss": issuer.address, "aud": AUDIENCE, "sub": "u-1", "iat": now, "exp": now + 300, **changed}
    return {name: value for name, value in whole.items() if value is not None}


@pytest.mark.req("AD-12")
@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
async def test_a_good_token_names_its_subject(
    issuer: Issuer, verifier: OidcVerifier, clock: FakeClock, algorithm: str
) -> None:
    if algorithm != "RS256":
        issuer.rotate(algorithm)
    token = issuer.sign(claims(issuer, clock, name="Ana", org="helio"), algorithm)
    found = await verifier.verify(token)
    assert (found.subject, found.organization, found.display_name) == ("u-1", "helio", "Ana")


@pytest.mark.req("AD-12")
@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://other.example"},
        {"iss": None},
        {"aud": "another"},
        {"aud": ["another", "third"]},
        {"aud": None},
        {"exp": None},
        {"exp": "never"},
        {"sub": None},
        {"sub": " "},
        {"sub": 7},
        {"sub": "x" * 256},
    ],
)
async def test_a_wrong_or_missing_claim_is_refused(
    issuer: Issuer, verifier: OidcVerifier, clock: FakeClock, changed: dict[str, Any]
) -> None:
    await verifier.verify(issuer.sign(claims(issuer, clock)))
    with pytest.raises(Unauthenticated):
        await verifier.verify(issuer.sign(claims(issuer, clock, **changed)))


@pytest.mark.req("AD-12")
async def test_one_of_several_audiences_is_enough(issuer: Issuer, verifier: OidcVerifier, clock: FakeClock) -> None:
    assert (await verifier.verify(issuer.sign(claims(issuer, clock, aud=["another", AUDIENCE])))).subject == "u-1"


@pytest.mark.req("AD-12")
@pytest.mark.parametrize(("claim", "off"), [("exp", -61), ("nbf", 61), ("iat", 61)])
async def test_times_are_checked_by_the_services_clock_with_a_minutes_leeway(
    issuer: Issuer, verifier: OidcVerifier, clock: FakeClock, claim: str, off: int
) -> None:
    now = clock.now() // 1_000
    with pytest.raises(Unauthenticated):
        await verifier.verify(issuer.sign(claims(issuer, clock, **{claim: now + off})))
    near = off + 2 if off < 0 else off - 2
    assert (await verifier.verify(issuer.sign(claims(issuer, clock, **{claim: now + near})))).subject == "u-1"


@pytest.mark.req("AD-12")
async def test_a_nonce_must_be_the_one_that_was_sent(issuer: Issuer, verifier: OidcVerifier, clock: FakeClock) -> None:
    token = issuer.sign(claims(issuer, clock, nonce="n-1"))
    assert (await verifier.verify(token, nonce="n-1")).subject == "u-1"
    for wanted, given in (("n-2", token), ("n-1", issuer.sign(claims(issuer, clock)))):
        with pytest.raises(Unauthenticated):
            await verifier.verify(given, nonce=wanted)


@pytest.mark.req("AD-12")
async def test_forged_tokens_are_refused(issuer: Issuer, verifier: OidcVerifier, clock: FakeClock) -> None:
    good = issuer.sign(claims(issuer, clock))
    head, body, signature = good.split(".")
    key = issuer.keys["RS256"]
    stranger = RSAKey.generate_key(2048, {"kid": str(key.kid)})
    public = OctKey.import_key(json.dumps(key.as_dict(private=False)).encode())
    other = base64.urlsafe_b64encode(json.dumps(claims(issuer, clock, sub="u-2")).encode()).decode().rstrip("=")
    unsigned = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    forged = [
        f"{head}.{other}.{signature}",
        f"{unsigned}.{body}.",
        f"{head}.{body}.",
        jwt.encode({"alg": "RS256", "kid": key.kid}, claims(issuer, clock), stranger),
        jwt.encode({"alg": "HS256", "kid": key.kid}, claims(issuer, clock), public),
        "",
        "a.b.c",
        f"{good}.x.y",
    ]
    said = set()
    for token in forged:
        with pytest.raises(Unauthenticated) as refused:
            await verifier.verify(token)
        said.add(str(refused.value))
    assert len(said) == 1
    assert (await verifier.verify(good)).subject == "u-1"


@pytest.mark.req("AD-12")
async def test_a_shared_secret_in_the_key_set_signs_nothing(
    issuer: Issuer, verifier: OidcVerifier, clock: FakeClock
) -> None:
    secret = OctKey.generate_key(256, {"kid": "shared"})
    issuer.published.append(secret)
    with pytest.raises(Unauthenticated):
        await verifier.verify(jwt.encode({"alg": "HS256", "kid": "shared"}, claims(issuer, clock), secret))
    assert (await verifier.verify(issuer.sign(claims(issuer, clock)))).subject == "u-1"


@pytest.mark.req("AD-12")
async def test_keys_are_kept_for_an_hour_and_asked_for_again_when_a_new_one_signs(
    issuer: Issuer, verifier: OidcVerifier, clock: FakeClock
) -> None:
    for _ in range(3):
        await verifier.verify(issuer.sign(claims(issuer, clock)))
    assert issuer.asked.count("/keys") == 1
    clock.advance(timedelta(minutes=2))
    issuer.rotate()
    await verifier.verify(issuer.sign(claims(issuer, clock)))
    assert issuer.asked.count("/keys") == 2
    clock.advance(timedelta(hours=1))
    await verifier.verify(issuer.sign(claims(issuer, clock)))
    assert issuer.asked.count("/keys") == 3


@pytest.mark.req("AD-12")
async def test_unknown_keys_make_the_service_ask_at_most_once_a_minute(
    issuer: Issuer, verifier: OidcVerifier, clock: FakeClock
) -> None:
    await verifier.verify(issuer.sign(claims(issuer, clock)))
    clock.advance(timedelta(minutes=2))
    for number in range(20):
        with pytest.raises(Unauthenticated):
            await verifier.verify(issuer.sign(claims(issuer, clock), kid=f"unknown-{number}"))
    assert issuer.asked.count("/keys") == 2


@pytest.mark.req("AD-12")
async def test_an_issuer_that_is_away_stops_nobody_while_its_keys_are_known(
    issuer: Issuer, verifier: OidcVerifier, clock: FakeClock
) -> None:
    issuer.away = True
    with pytest.raises(Unauthenticated):
        await verifier.verify(issuer.sign(claims(issuer, clock)))
    issuer.away = False
    clock.advance(timedelta(minutes=2))
    await verifier.verify(issuer.sign(claims(issuer, clock)))
    issuer.away = True
    clock.advance(timedelta(hours=3))
    await verifier.verify(issuer.sign(claims(issuer, clock)))
    clock.advance(timedelta(hours=24))
    with pytest.raises(Unauthenticated):
        await verifier.verify(issuer.sign(claims(issuer, clock)))


@pytest.mark.req("AD-12")
@pytest.mark.parametrize(
    "document", [{"issuer": "https://other.example"}, {"jwks_uri": "http://10.0.0.1/keys"}, {"jwks_uri": None}]
)
async def test_a_discovery_document_of_another_issuer_or_place_is_not_followed(
    issuer: Issuer, verifier: OidcVerifier, clock: FakeClock, document: dict[str, Any]
) -> None:
    issuer.document = document
    with pytest.raises(Unauthenticated):
        await verifier.verify(issuer.sign(claims(issuer, clock)))
    assert issuer.asked == ["/.well-known/openid-configuration"]


@pytest.mark.req("AD-12")
async def test_an_address_names_somebody_only_once_it_was_verified(issuer: Issuer, clock: FakeClock) -> None:
    by_mail = OidcVerifier(issuer=issuer.address, audience=AUDIENCE, clock=clock, claims={"principal": "email"})
    with pytest.raises(Unauthenticated):
        await by_mail.verify(issuer.sign(claims(issuer, clock, email="ana@helio.example")))
    good = issuer.sign(claims(issuer, clock, email="ana@helio.example", email_verified=True))
    assert (await by_mail.verify(good)).subject == "ana@helio.example"


@pytest.mark.req("AD-12", "AD-36")
@pytest.mark.parametrize(
    ("issuer_url", "audience"),
    [("", "x"), ("https://id.example", ""), ("http://id.example", "x"), ("ftp://id.example", "x"), ("id.example", "x")],
)
def test_settings_without_issuer_audience_or_https_are_refused(
    clock: FakeClock, issuer_url: str, audience: str
) -> None:
    with pytest.raises(SettingsInvalid):
        OidcVerifier(issuer=issuer_url, audience=audience, clock=clock)


async def facts_of(world: TeamWorld, caller: Caller) -> ViewerFacts:
    async with world.deps.store.reading() as reader:
        return await load_facts(reader, caller)


@pytest.mark.req("AD-12", "AD-13")
async def test_a_linked_person_signs_in_and_an_unknown_one_is_refused(
    world: TeamWorld, issuer: Issuer, verifier: OidcVerifier, clock: FakeClock
) -> None:
    enter = OidcSignIn(deps=world.deps, verifier=verifier, workspace=world.workspace)
    token = issuer.sign(claims(issuer, clock))
    with pytest.raises(Unauthenticated):
        await enter(token)
    await command(world.deps, world.caller(world.dan), lambda c: link_oidc(c, world.ana, "u-1"))
    assert (await enter(token)).principal == world.ana
    await command(world.deps, world.caller(world.dan), lambda c: set_disabled(c, world.ana, True))
    with pytest.raises(Unauthenticated):
        await enter(token)


@pytest.mark.req("AD-12", "AD-6")
async def test_auto_create_makes_a_person_once_and_without_rights(
    world: TeamWorld, issuer: Issuer, verifier: OidcVerifier, clock: FakeClock
) -> None:
    enter = OidcSignIn(deps=world.deps, verifier=verifier, workspace=world.workspace, auto_create=True)
    first = await enter(issuer.sign(claims(issuer, clock, name="Fay")))
    again = await enter(issuer.sign(claims(issuer, clock, name="Fay Renamed")))
    assert first == again
    facts = await facts_of(world, first)
    assert (facts.grants, agents_with_role(facts)) == ((), frozenset())
    async with world.deps.store.reading() as reader:
        people = (await reader.find(SYSTEM, Find(kind=Principal))).nodes
    assert [p.display_name for p in people if p.oidc_subject == "u-1"] == ["Fay"]
    log, _ = await read(world.deps, world.caller(world.cleo), admin_log)
    assert [(r.operation, r.target_id) for r in log.records] == [("principal.create", first.principal)]


@pytest.mark.req("AD-12")
async def test_an_organization_counts_only_for_its_members(
    world: TeamWorld, issuer: Issuer, verifier: OidcVerifier, clock: FakeClock
) -> None:
    enter = OidcSignIn(deps=world.deps, verifier=verifier, workspace=world.workspace)
    dan = world.caller(world.dan)
    await command(world.deps, dan, lambda c: link_oidc(c, world.ana, "u-1"))
    org = await command(world.deps, dan, lambda c: create_organization(c, "Helio", local_id="helio"))
    token = issuer.sign(claims(issuer, clock, org="helio"))
    for refused in (token, issuer.sign(claims(issuer, clock, org="no/such"))):
        with pytest.raises(Unauthenticated):
            await enter(refused)
    await command(world.deps, dan, lambda c: set_members(c, org.id, [world.ana]))
    assert (await enter(token)).organization == org.id


@pytest.mark.req("AD-12")
@pytest.mark.parametrize("claim", ["sub", "name", "org"])
async def test_half_of_a_surrogate_pair_names_nobody(
    issuer: Issuer, verifier: OidcVerifier, clock: FakeClock, claim: str
) -> None:
    key, said = issuer.keys["RS256"], json.dumps(claims(issuer, clock, **{claim: "a\ud800"}))
    token = jws.serialize_compact({"alg": "RS256", "kid": key.kid}, said.encode(), key, algorithms=["RS256"])
    if claim == "sub":
        with pytest.raises(Unauthenticated):
            await verifier.verify(token)
    else:
        found = await verifier.verify(token)
        assert (found.organization, found.display_name) == (None, None)


@pytest.mark.req("AD-12")
@pytest.mark.parametrize(
    "odd",
    [
        {"kty": "RSA"},
        {"kty": "EC", "crv": "not-known", "x": "AA", "y": "AA"},
        {"kty": "OKP", "crv": "Ed25519", "x": ""},
    ],
)
async def test_a_key_that_is_not_understood_spoils_no_other(
    issuer: Issuer, verifier: OidcVerifier, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, odd: dict[str, str]
) -> None:
    told = issuer.answer
    monkeypatch.setattr(
        issuer,
        "answer",
        lambda path: (200, {"keys": [{**odd, "kid": "x"}, *told(path)[1]["keys"]]}) if path == "/keys" else told(path),
    )
    assert (await verifier.verify(issuer.sign(claims(issuer, clock)))).subject == "u-1"
