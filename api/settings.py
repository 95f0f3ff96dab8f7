"""The settings of the process: defaults, then `rootward.toml`, then ``ROOTWARD_…`` variables (``__`` for a dot).

They are read once, by `load`, into a frozen model. An unknown name or a bad value stops the start with the name, where
the value came from and what is allowed. Settings of knowledge live in the store instead. Source: AD-36.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo

from graph.model.errors import SettingsInvalid
from graph.rules.memory_limits import BOUNDS, MemoryLimits
from graph.rules.session_memory_text import DEFAULT_MAX_LENGTH

PREFIX = "ROOTWARD_"
CONFIG_FILE = "rootward.toml"
STORE_FILE = "rootward.db"
ROOT_KEY_FILE = "root.key"
KEYRING_FILE = "keyring.json"
NOT_SETTINGS = frozenset(
    {
        "ROOTWARD_BENCH_SPICEDB",
        "ROOTWARD_BROWSER",
        "ROOTWARD_CONFIG",
        "ROOTWARD_LAW_GRAPHS",
        "ROOTWARD_NEO4J",
        "ROOTWARD_PORT",
        "ROOTWARD_ROOT_KEY",
        "ROOTWARD_SOAK_SHARE",
        "ROOTWARD_TOKEN",
        "ROOTWARD_URL",
    }
)
"""Variables of the command line, the tests and the compose file, and one that may hold the root key."""
TEST_PREFIX = "ROOTWARD_TEST_"
MODEL_PREFIX = "ROOTWARD_MODEL_"
"""Variables that hold keys of models; profiles name them."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _origins_only(given: tuple[str, ...]) -> tuple[str, ...]:
    if not all(re.fullmatch(r"https?://[A-Za-z0-9.:\[\]-]+", origin) for origin in given):
        raise ValueError("origins such as https://id.example")
    return given


Origins = Annotated[tuple[str, ...], AfterValidator(_origins_only)]
"""Addresses of sites without a path, as browsers send them."""


class ServerSettings(_Section):
    """Where the server listens, and pages of which other origins may ask it from a browser (ADR 0050)."""

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65_535)
    allowed_origins: Origins = ()
    shutdown_seconds: int = Field(default=20, ge=1, le=300)


class StoreSettings(_Section):
    """Where the graph lives: ``embedded:`` (in the data directory), a ``neo4j…://`` or ``bolt…://`` address."""

    url: str = Field(default="embedded:", pattern=r"^(embedded:.*|memory:|(neo4j|bolt)(\+s|\+ssc)?://.+)$")
    user: str = "neo4j"
    password: SecretStr = SecretStr("")
    database: str = "neo4j"


class BlobSettings(_Section):
    """Where bytes live: empty for a directory of the data directory, else ``file:``, ``s3:``, ``gs:``, ``az:``."""

    url: str = ""


class GraphQLSettings(_Section):
    """What the GraphQL endpoint allows (KN-115)."""

    introspection: bool = False
    graphiql: bool = False
    max_depth: int = Field(default=15, ge=1, le=15)
    max_nodes: int = Field(default=5_000, ge=1, le=5_000)
    max_tokens: int = Field(default=4_000, ge=100, le=100_000)
    max_aliases: int = Field(default=50, ge=1, le=1_000)
    max_directives: int = Field(default=50, ge=0, le=1_000)
    max_variables_bytes: int = Field(default=1_048_576, ge=1_024, le=16_777_216)
    max_body_bytes: int = Field(default=4_194_304, ge=1_024, le=67_108_864)
    max_subscriptions: int = Field(default=20, ge=1, le=1_000)


class OidcSettings(_Section):
    """Sign-in of people by OIDC bearer tokens (AD-12); off while `issuer` is empty.

    With `client_id` the console offers it: the browser asks the issuer for `scopes` and sends the `bearer` that it gets
    with each request. `more_origins` are those of endpoints of the issuer that lie elsewhere.
    """

    issuer: str = ""
    audience: str = ""
    auto_create: bool = False
    workspace: str = "main"
    claims: dict[str, str] = Field(default_factory=lambda: {"principal": "sub", "organization": "org"})
    client_id: str = ""
    scopes: str = "openid profile"
    bearer: str = Field(default="id_token", pattern="^(id_token|access_token)$")
    more_origins: Origins = ()


class ConsoleSettings(_Section):
    """The console at ``/console``: whether it is served, and the folder of its build (empty: that of the server)."""

    enabled: bool = True
    folder: str = ""


class AuditSettings(_Section):
    """How often the heads of all chains are bound together, and the file or the address to which that goes (AD-27)."""

    anchor_minutes: float = Field(default=15, gt=0, le=1_440)
    anchor_to: str = ""


class ConnectorSettings(_Section):
    """Folders of the server whose documents connectors may bring in; none: there are no folder connectors."""

    folders: tuple[str, ...] = ()


class KeySettings(_Section):
    """Where keys are (AD-29): the root key by ``env:NAME``, ``file:PATH`` or ``command:PROGRAM ARGUMENTS``, the keyring
    by the path of its file; empty: `root.key` and `keyring.json` in the data directory.
    """

    root: str = Field(default="", pattern=r"^((env|file|command):.+)?$")
    keyring: str = ""


class SessionMemorySettings(_Section):
    """How many characters of a session's memory go into a turn, preface included (SM-86, SM-90)."""

    max_length: int = Field(default=DEFAULT_MAX_LENGTH, ge=0)

    @field_validator("max_length", mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        if isinstance(given, bool | float):
            raise ValueError("a whole number")
        return given


class SessionsSettings(_Section):
    """Sessions of agents."""

    memory: SessionMemorySettings = SessionMemorySettings()


class DefaultGuideSettings(_Section):
    """What memories without a guide of their own use, by kind; unset: the guide that is built in (FM-31)."""

    file: str | None = None
    record: str | None = None


def _limit(name: str) -> Any:
    low, high = BOUNDS[name]
    return Field(default=getattr(MemoryLimits(), name), ge=low, le=high)


class WorkspaceMemorySettings(_Section):
    """The limits of workspace memory; names, defaults and bounds are those of FM-87."""

    max_file_bytes: int = _limit("max_file_bytes")
    revisions_per_file: int = _limit("revisions_per_file")
    max_total_bytes: int = _limit("max_total_bytes")
    mounts_per_thread: int = _limit("mounts_per_thread")
    guide_bytes: int = _limit("guide_bytes")
    context_bytes: int = _limit("context_bytes")
    always_load_bytes: int = _limit("always_load_bytes")
    description_chars: int = _limit("description_chars")
    frontmatter_bytes: int = _limit("frontmatter_bytes")
    path_bytes: int = _limit("path_bytes")
    write_retries: int = _limit("write_retries")
    recall_limit: int = _limit("recall_limit")
    recall_bytes: int = _limit("recall_bytes")
    recall_seconds: float = _limit("recall_seconds")
    record_chars: int = _limit("record_chars")
    default_guide: DefaultGuideSettings = DefaultGuideSettings()

    def limits(self) -> MemoryLimits:
        """Return the limits in force.

        Raises:
            SettingsInvalid: two of them do not fit together (FM-89).
        """
        plain: dict[str, Any] = {name: getattr(self, name) for name in BOUNDS}
        guides = self.default_guide
        limits = MemoryLimits(**plain, default_guide_file=guides.file, default_guide_record=guides.record)
        return limits.checked()


class SandboxModelSettings(_Section):
    """Where a model of sandbox memory answers: an address that speaks OpenAI's Chat Completions."""

    base_url: str = Field(pattern=r"^https?://.+$")
    api_key: SecretStr = SecretStr("")
    model: str = Field(min_length=1)


class SandboxMemorySettings(_Section):
    """Sandbox memory: what runtimes leave out, its limits, and its models by name (SB-121)."""

    phase_one_model: str = Field(default="gpt-5.4-mini", min_length=1)
    phase_two_model: str = Field(default="gpt-5.4", min_length=1)
    max_raw_memories_for_consolidation: int = Field(default=256, ge=1, le=4_096)
    phase_one_token_limit: int = Field(default=150_000, ge=1, le=10_000_000)
    summary_token_limit: int = Field(default=15_000, ge=1, le=1_000_000)
    phase_two_max_turns: int = Field(default=500, ge=1, le=10_000)
    max_segment_bytes: int = Field(default=8_388_608, ge=1_024, le=67_108_864)
    phase_seconds: float = Field(default=600, gt=0, le=7_200)
    models: dict[str, SandboxModelSettings] = Field(default_factory=dict)


class ProviderSettings(_Section):
    """How record backends are reached (RM-8, RM-15): `http_origins` may be private or plain HTTP."""

    require_https: bool = True
    http_origins: tuple[str, ...] = ()
    operation_seconds: float = Field(default=10, gt=0, le=300)


class OutboxDefaults(_Section):
    """How deliveries to other systems are tried (RM-48)."""

    max_attempts: int = Field(default=12, ge=1, le=1_000)
    lease_seconds: int = Field(default=60, ge=4, le=3_600)


class OutboxPolicy(_Section):
    """The same for one kind of delivery; what is unset is inherited."""

    max_attempts: int | None = Field(default=None, ge=1, le=1_000)
    lease_seconds: int | None = Field(default=None, ge=4, le=3_600)


class OutboxKinds(_Section):
    """Policies of single kinds."""

    memory_purge: OutboxPolicy = OutboxPolicy()


class OutboxSettings(_Section):
    """Deliveries to other systems."""

    defaults: OutboxDefaults = OutboxDefaults()
    by_kind: OutboxKinds = OutboxKinds()

    def memory_purge(self) -> OutboxDefaults:
        """Return the policy of purges, each unset field inherited."""
        own = self.by_kind.memory_purge.model_dump(exclude_none=True)
        return OutboxDefaults.model_validate({**self.defaults.model_dump(), **own})


class WorkerSettings(_Section):
    """Whether the server process also does the background work."""

    in_server: bool = True


class EmbeddingSettings(_Section):
    """Where ``embedding.provider`` `openai` is: OpenAI's form of an address, empty for OpenAI itself."""

    url: str = ""
    credential: str = "env:OPENAI_API_KEY"
    timeout_seconds: float = Field(default=60, gt=0, le=600)


class ModelsSettings(_Section):
    """Embedding models that run here: their folder (empty: in the data directory) and the Maven repository they come
    from (empty: Maven itself gets them).
    """

    folder: str = ""
    repository: str = ""
    threads: int = Field(default=1, ge=1, le=64)


class RerankSettings(_Section):
    """The address of an outside reranker, such as ``https://…/v1/rerank``; off while it is empty."""

    url: str = ""
    model: str = ""
    credential: str = ""


class LogSettings(_Section):
    """How much is logged, and in which form."""

    level: str = Field(default="info", pattern="^(debug|info|warning|error)$")
    format: str = Field(default="json", pattern="^(json|console)$")


class Settings(_Section):
    """Every setting of the process."""

    data_dir: Path = Path("data")
    workspace: str = Field(default="main", pattern=r"^[A-Za-z0-9._:-]{1,128}$")
    server: ServerSettings = ServerSettings()
    store: StoreSettings = StoreSettings()
    blobs: BlobSettings = BlobSettings()
    graphql: GraphQLSettings = GraphQLSettings()
    oidc: OidcSettings = OidcSettings()
    console: ConsoleSettings = ConsoleSettings()
    audit: AuditSettings = AuditSettings()
    connectors: ConnectorSettings = ConnectorSettings()
    keys: KeySettings = KeySettings()
    worker: WorkerSettings = WorkerSettings()
    sessions: SessionsSettings = SessionsSettings()
    memory: WorkspaceMemorySettings = WorkspaceMemorySettings()
    sandbox_memory: SandboxMemorySettings = SandboxMemorySettings()
    providers: ProviderSettings = ProviderSettings()
    outbox: OutboxSettings = OutboxSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    models: ModelsSettings = ModelsSettings()
    rerank: RerankSettings = RerankSettings()
    log: LogSettings = LogSettings()


def store_file(settings: Settings) -> Path | None:
    """Return the file of the embedded store; None for other stores."""
    if not settings.store.url.startswith("embedded:"):
        return None
    path = settings.store.url.removeprefix("embedded:")
    return Path(path) if path else settings.data_dir / STORE_FILE


def root_key_origin(settings: Settings) -> str:
    """Return where the root key comes from, as ``env:…``, ``file:…`` or ``command:…``."""
    return settings.keys.root or f"file:{settings.data_dir / ROOT_KEY_FILE}"


def keyring_file(settings: Settings) -> Path:
    """Return the file of the keyring."""
    return Path(settings.keys.keyring) if settings.keys.keyring else settings.data_dir / KEYRING_FILE


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """A value that is not the default, and where it came from."""

    value: Any
    origin: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """One setting as `rootward settings` prints it; secrets are masked."""

    name: str
    value: str
    default: str
    origin: str


def load(environ: Mapping[str, str], file: Path | None = None) -> Settings:
    """Return the settings in force.

    Args:
        environ: the variables of the process.
        file: the configuration file; None for ``ROOTWARD_CONFIG`` or `rootward.toml` here, if there is one.

    Raises:
        SettingsInvalid: an unknown name or a bad value; `details` has `name`, `origin` and `allowed`.
    """
    return _validated(given(environ, file))


def given(environ: Mapping[str, str], file: Path | None = None) -> dict[str, Given]:
    """Return what the file and the variables set, by dotted name; variables win."""
    path = file or Path(environ.get("ROOTWARD_CONFIG", CONFIG_FILE))
    required = file is not None or "ROOTWARD_CONFIG" in environ
    found = _from_file(path, required)
    found.update(_from_environment(environ))
    return found


def listed(settings: Settings, values: Mapping[str, Given]) -> list[Listed]:
    """Return every setting with its default and origin, in the order of the declaration."""
    defaults = dict(_flat(Settings()))
    return [
        Listed(
            name=name,
            value=str(value),
            default=str(defaults[name]),
            origin=values[name].origin if name in values else "default",
        )
        for name, value in _flat(settings)
    ]


def names() -> dict[str, FieldInfo]:
    """Return every setting by its dotted name."""
    return dict(_names(Settings, ""))


def _names(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, FieldInfo]]:
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from _names(info.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", info


def _flat(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _from_file(path: Path, required: bool) -> dict[str, Given]:
    if not path.is_file():
        if required:
            raise SettingsInvalid(f"there is no configuration file {path}", name="ROOTWARD_CONFIG", origin=str(path))
        return {}
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"{path} is not TOML", name=str(path), origin=str(path), allowed="TOML") from error
    return {name: Given(value=value, origin=str(path)) for name, value in _leaves(tree, "")}


def _leaves(tree: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    known = names()
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and name not in known:
            yield from _leaves(value, f"{name}.")
        else:
            yield name, value


def _from_environment(environ: Mapping[str, str]) -> dict[str, Given]:
    return {
        variable.removeprefix(PREFIX).lower().replace("__", "."): Given(value=value, origin=variable)
        for variable, value in sorted(environ.items())
        if variable.startswith(PREFIX)
        and not variable.startswith((TEST_PREFIX, MODEL_PREFIX))
        and variable not in NOT_SETTINGS
    }


def _validated(values: Mapping[str, Given]) -> Settings:
    known = names()
    tree: dict[str, Any] = {}
    for name, one in values.items():
        if name not in known:
            raise _invalid(name, one.origin, "a name that `rootward settings` lists")
        _place(tree, name.split("."), _split(known[name], one.value))
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = _setting_at(first["loc"], known)
        raise _invalid(name, values[name].origin, _allowed(known[name], first["msg"])) from None


def _split(info: FieldInfo, value: Any) -> Any:
    """Return a list or mapping for a text of a variable that stands for one: words between commas."""
    if isinstance(value, str) and tuple in _origins(info):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, str) and dict in _origins(info):
        return _mapping(value)
    return value


def _mapping(text: str) -> Any:
    """Return what a text of a variable stands for: JSON, or ``name=value`` between commas."""
    if not text.lstrip().startswith("{"):
        return dict(part.split("=", 1) for part in text.split(",") if "=" in part)
    try:
        return json.loads(text)
    except ValueError:
        return text  # it is refused as no mapping


def _origins(info: FieldInfo) -> tuple[Any, ...]:
    return (getattr(info.annotation, "__origin__", None),)


def _place(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        tree = tree.setdefault(part, {})
    tree[path[-1]] = value


def _setting_at(location: tuple[int | str, ...], known: Mapping[str, FieldInfo]) -> str:
    parts = [str(part) for part in location]
    names_ = [".".join(parts[: end + 1]) for end in range(len(parts))]
    return next((name for name in names_ if name in known), ".".join(parts))


def _allowed(info: FieldInfo, message: str) -> str:
    bounds = {type(rule).__name__: rule for rule in info.metadata}
    words = [
        f"at least {bounds['Ge'].ge}" if "Ge" in bounds else "",
        f"above {bounds['Gt'].gt}" if "Gt" in bounds else "",
        f"at most {bounds['Le'].le}" if "Le" in bounds else "",
    ]
    pattern = next((getattr(rule, "pattern", None) for rule in info.metadata if hasattr(rule, "pattern")), None)
    if pattern:
        words.append(f"a text like {pattern}")
    return " and ".join(word for word in words if word) or message


def _invalid(name: str, origin: str, allowed: str) -> SettingsInvalid:
    return SettingsInvalid(
        f"the setting {name} (from {origin}) cannot be taken; allowed: {allowed}",
        name=name,
        origin=origin,
        allowed=allowed,
    )
