"""The only place that picks adapters: from settings to a service that can be started."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from api.adapters.blobs import open_blobs
from api.adapters.bounded import BoundedExtractor
from api.adapters.connectors.feed import FeedPlaces
from api.adapters.connectors.folder import FolderPlaces
from api.adapters.credentials import from_environment
from api.adapters.fetch import SafeFetcher
from api.adapters.keyring import FileKeyring
from api.adapters.mem0 import Mem0
from api.adapters.outbound import OutboundPolicy
from api.adapters.root_key import RootKey
from api.adapters.system import RandomIds, SystemClock, SystemRandomness
from api.app import Check, Parts, create_app
from api.auth import Authenticator, Verifier
from api.observability import PrometheusFigures
from api.settings import Settings, keyring_file, root_key_origin, store_file
from dreaming.jobs import ModelMaker
from dreaming.models.embedding_making import Embedders, http_reranker
from dreaming.models.making import ProfileModels
from dreaming.sandbox.rules import SandboxRules
from graph.model.errors import SettingsInvalid, StoreUnavailable
from graph.model.ids import IdSource, WorkspaceId
from graph.model.time import Clock
from graph.ports import BlobStore, DocumentPlaces, EmbedderMaker, PageFetcher, Randomness, RecordWire, Reranker
from graph.rules.jobs import JobKind, purging_by
from graph.rules.session_memory_text import MemoryRules
from graph.services.admin.keys import unlock
from graph.services.deps import Deps
from graph.services.workspace.records import ProviderRecords
from graph.store.embedded import EmbeddedStore
from graph.store.embedded.locking import Ownership
from graph.store.memory import MemoryStore
from graph.store.observing import ObservingStore
from graph.store.port import Store
from graph.store.sealing import Keyring, Vault
from graph.text.tokens import ApproximateTokenizer
from rootward.models import Endpoint
from rootward.sandbox.memory import MemoryGenerateConfig, MemoryLimits

BLOBS_FOLDER = "blobs"
MODELS_FOLDER = "models"

Starting = Callable[[Deps], Awaitable[None]]
"""Something to do once the store is open, before requests are taken."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ports:
    """Ports that a caller of `build` may give instead of those of the settings; tests give fakes."""

    clock: Clock = field(default_factory=SystemClock)
    ids: IdSource = field(default_factory=RandomIds)
    randomness: Randomness = field(default_factory=SystemRandomness)
    store: Store | None = None
    blobs: BlobStore | None = None
    fetcher: PageFetcher | None = None
    embedders: EmbedderMaker | None = None
    reranker: Reranker | None = None
    places: Mapping[str, DocumentPlaces] | None = None
    keyring: Keyring | None = None
    models: ModelMaker | None = None
    session_memory: MemoryRules | None = None
    record_wire: RecordWire | None = None
    sandbox: SandboxRules | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """A wired service: `app` opens the store when it starts and closes it when it ends."""

    settings: Settings
    deps: Deps
    figures: PrometheusFigures
    app: Starlette
    announce: Callable[[str], None]
    """Tells others who find the store locked where this process can be reached (AD-39)."""
    ending: asyncio.Event
    """To be set when the process is told to end: what nobody needs is then not waited for any longer."""


def build(
    settings: Settings,
    *,
    ports: Ports | None = None,
    on_start: Sequence[Starting] = (),
    more_routes: Sequence[BaseRoute] = (),
) -> Service:
    """Wire a service; nothing is opened before its app starts.

    Raises:
        SettingsInvalid: the settings name an adapter that does not exist.
    """
    figures = PrometheusFigures()
    given = ports or Ports()
    store = given.store or make_store(settings, given.clock)
    deps = make_deps(settings, replace(given, store=store), figures)
    parts = Parts(
        settings=settings,
        deps=deps,
        figures=figures,
        auth=Authenticator(deps=deps, oidc=_oidc(settings, deps)),
        checks={"store": _store_check(deps.store)},
        lifespan=lambda: running(deps, on_start),
        models=given.models or ProfileModels(credentials=from_environment(os.environ), figures=figures),
        sandbox=given.sandbox or sandbox_rules(settings),
        more_routes=more_routes,
    )
    announce = store.announce if isinstance(store, EmbeddedStore) else _nobody
    return Service(
        settings=settings,
        deps=deps,
        figures=figures,
        app=create_app(parts),
        announce=announce,
        ending=parts.ending,
    )


def _oidc(settings: Settings, deps: Deps) -> Verifier | None:
    given = settings.oidc
    if not given.issuer:
        return None
    from api.adapters.oidc import DEFAULT_CLAIMS, OidcSignIn, OidcVerifier  # ten MiB that few servers need

    verifier = OidcVerifier(
        issuer=given.issuer, audience=given.audience, clock=deps.clock, claims={**DEFAULT_CLAIMS, **given.claims}
    )
    workspace = WorkspaceId(given.workspace)
    return OidcSignIn(deps=deps, verifier=verifier, workspace=workspace, auto_create=given.auto_create)


def make_deps(settings: Settings, ports: Ports, figures: PrometheusFigures | None = None) -> Deps:
    """Return the ports of the core for these settings; the store is not opened."""
    counted = figures or PrometheusFigures()
    purge_kind(settings)
    fetcher = ports.fetcher or SafeFetcher(clock=ports.clock)
    store = ports.store or make_store(settings, ports.clock)
    deps = Deps(
        store=ObservingStore(store, counted),
        clock=ports.clock,
        ids=ports.ids,
        randomness=ports.randomness,
        tokenizer=ApproximateTokenizer(),
        blobs=ports.blobs or open_blobs(settings.blobs.url or _folder(settings.data_dir / BLOBS_FOLDER)),
        fetcher=fetcher,
        extractor=BoundedExtractor(),
        embedders=ports.embedders or _embedders(settings),
        reranker=ports.reranker or _reranker(settings),
        places=ports.places or document_places(settings, fetcher),
        vault=Vault(ports.keyring or open_keyring(settings, ports.clock), ports.randomness),
        session_memory=ports.session_memory or MemoryRules(max_length=settings.sessions.memory.max_length),
        memory_limits=settings.memory.limits(),
        record_wire=ports.record_wire or record_wire(settings),
        figures=counted,
    )
    return replace(deps, records=ProviderRecords(deps=deps))


def record_wire(settings: Settings) -> Mem0:
    """Return what speaks to record backends, within the outbound policy.

    Raises:
        SettingsInvalid: `providers.http_origins` holds what is no origin.
    """
    given = settings.providers
    policy = OutboundPolicy.of(require_https=given.require_https, http_origins=given.http_origins)
    return Mem0(policy=policy, operation_s=given.operation_seconds)


def purge_kind(settings: Settings) -> JobKind:
    """Return how records of deleted memories are purged.

    Raises:
        SettingsInvalid: a lease could run out while a backend is asked (RM-52).
    """
    policy = settings.outbox.memory_purge()
    if 2 * settings.providers.operation_seconds >= policy.lease_seconds:
        name, allowed = "providers.operation_seconds", "less than half of the lease_seconds of outbox memory_purge"
        raise SettingsInvalid(f"{name} takes {allowed}", name=name, origin="settings", allowed=allowed)
    return purging_by(policy.max_attempts, policy.lease_seconds)


def sandbox_rules(settings: Settings) -> SandboxRules:
    """Return what is in force for sandbox memory (SB-121)."""
    given = settings.sandbox_memory
    return SandboxRules(
        limits=MemoryLimits(**{field.name: getattr(given, field.name) for field in fields(MemoryLimits)}),
        generate=MemoryGenerateConfig(
            phase_one_model=given.phase_one_model,
            phase_two_model=given.phase_two_model,
            max_raw_memories_for_consolidation=given.max_raw_memories_for_consolidation,
        ),
        models={
            name: Endpoint(base_url=one.base_url, api_key=one.api_key.get_secret_value(), model=one.model)
            for name, one in given.models.items()
        },
    )


def open_keyring(settings: Settings, clock: Clock, environ: Mapping[str, str] | None = None) -> FileKeyring:
    """Return the keyring that the settings name; nothing is read before a key is needed.

    Raises:
        SettingsInvalid: `keys.root` names no place of a key.
    """
    variables = os.environ if environ is None else environ
    root = RootKey(root_key_origin(settings), variables, makes=not settings.keys.root)
    return FileKeyring(keyring_file(settings), root, clock)


def document_places(settings: Settings, fetcher: PageFetcher) -> Mapping[str, DocumentPlaces]:
    """Return what connectors can read, by kind; folders only where the operator allows some."""
    places: dict[str, DocumentPlaces] = {"feed": FeedPlaces(fetcher=fetcher)}
    if settings.connectors.folders:
        places["folder"] = FolderPlaces(allowed=[Path(folder) for folder in settings.connectors.folders])
    return places


def models_folder(settings: Settings) -> Path:
    """Return where embedding models that run here are."""
    return Path(settings.models.folder) if settings.models.folder else settings.data_dir / MODELS_FOLDER


def _embedders(settings: Settings) -> EmbedderMaker:
    return Embedders(
        folder=models_folder(settings),
        credentials=from_environment(os.environ),
        credential=settings.embedding.credential,
        url=settings.embedding.url,
        timeout_s=settings.embedding.timeout_seconds,
        threads=settings.models.threads,
    )


def _reranker(settings: Settings) -> Reranker | None:
    given = settings.rerank
    key = from_environment(os.environ)(given.credential) if given.credential else None
    return http_reranker(given.url, given.model, key) if given.url else None


def make_store(settings: Settings, clock: Clock) -> Store:
    """Return the store that the settings name; it is not opened."""
    url = settings.store.url
    if url == "memory:":
        return MemoryStore(clock=clock)
    file = store_file(settings)
    if file is not None:
        make_folder(file.parent)
        return EmbeddedStore(file, clock=clock)
    secret = settings.store.password.get_secret_value()
    if not secret and settings.store.user:
        raise SettingsInvalid(
            "set the password of the store", name="store.password", origin="default", allowed="a password"
        )
    from graph.store.neo4j import Neo4jStore  # thirty MiB that a server on a file does not need

    return Neo4jStore(url, auth=(settings.store.user, secret), database=settings.store.database, clock=clock)


@contextmanager
def owning(file: Path) -> Iterator[None]:
    """Own the place of an embedded store while it is not open.

    Raises:
        StoreLocked: another process owns it.
    """
    make_folder(file.parent)
    ownership = Ownership(file)
    ownership.take()
    try:
        yield
    finally:
        ownership.release()


def make_folder(path: Path) -> None:
    """Make a folder that only its owner may look into.

    Raises:
        StoreUnavailable: it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreUnavailable(f"the folder {path} cannot be made: {error.strerror}") from error


@asynccontextmanager
async def running(deps: Deps, on_start: Sequence[Starting] = ()) -> AsyncIterator[None]:
    """Keep the store open, and do what must be done first.

    Raises:
        StoreKeyMissing: a key that the store needs is missing or wrong (AD-29).
    """
    await deps.store.open()
    try:
        await unlock(deps)
        for start in on_start:
            await start(deps)
        yield
    finally:
        await deps.store.close()
        if isinstance(deps.embedders, Embedders):
            await deps.embedders.aclose()


def _store_check(store: Store) -> Check:
    async def check() -> str:
        health = await store.health()
        return "" if health.ready else health.reason or "not ready"

    return check


def _folder(path: Path) -> str:
    make_folder(path)
    return path.resolve().as_uri()


def _nobody(address: str) -> None:
    """Tell nobody: only an embedded store has an owner."""
