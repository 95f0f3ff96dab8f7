"""The declaration from which both stores create tables, constraints and indexes. Adding a field is one line here
(in the node's class) and a migration.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from graph.model.fields import FieldType, Node
from graph.model.ids import prefix_of
from graph.model.nodes import bots, evidence, knowledge, learning, people, sandbox, sessions, work, workspace
from graph.model.sealed import Sealed

SCHEMA_VERSION = 7
"""Number of the last migration."""

KINDS: tuple[type[Node], ...] = (
    people.Workspace,
    people.Organization,
    people.Principal,
    people.Group,
    people.Grant,
    people.Token,
    people.SettingValue,
    evidence.Channel,
    evidence.RoutingRule,
    evidence.Conversation,
    evidence.Thread,
    evidence.Source,
    evidence.Episode,
    evidence.MessageVector,
    evidence.WindowVector,
    knowledge.KnowledgeBase,
    knowledge.Entry,
    knowledge.EntryVersion,
    knowledge.Facet,
    knowledge.Block,
    knowledge.BlockVersion,
    knowledge.Attribute,
    knowledge.Relation,
    knowledge.RelationVersion,
    knowledge.CurationGuide,
    learning.ModelProfile,
    learning.ModelCall,
    learning.ModelSpending,
    learning.DreamRun,
    learning.DreamBatch,
    learning.Progress,
    learning.PendingItem,
    learning.Skill,
    learning.SkillOverlay,
    learning.Lesson,
    learning.ResidentMemo,
    learning.MemoLine,
    learning.SignalSource,
    learning.Connector,
    learning.Mirror,
    sessions.Session,
    sessions.Turn,
    sessions.SessionItem,
    sessions.SessionFact,
    sessions.SessionChange,
    sessions.AgentMemory,
    sessions.AgentEntry,
    sessions.AgentChange,
    sessions.Consolidation,
    bots.BotPool,
    bots.Chat,
    bots.ChatItem,
    bots.BotEntry,
    bots.BotLogRow,
    bots.BotRun,
    bots.Confession,
    bots.Enrichment,
    bots.BotSpending,
    bots.BotCall,
    workspace.WorkspaceMemory,
    workspace.MemoryFile,
    workspace.MemoryRevision,
    workspace.MemoryProvider,
    workspace.NamespaceClaim,
    workspace.AgentProfile,
    workspace.RunThread,
    workspace.ThreadMount,
    workspace.WorkspaceRun,
    workspace.ContextCursor,
    workspace.RunToolCall,
    sandbox.SandboxSession,
    sandbox.SandboxFile,
    sandbox.SandboxPart,
    sandbox.SandboxSnapshot,
    work.AuditRecord,
    work.Anchor,
    work.AdminRecord,
    work.Job,
    work.Receipt,
)

_SCALARS: Mapping[Any, FieldType] = {
    str: FieldType.TEXT,
    int: FieldType.INTEGER,
    float: FieldType.REAL,
    bool: FieldType.BOOLEAN,
    bytes: FieldType.BYTES,
    Any: FieldType.JSON,
    Sealed: FieldType.SEALED,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldSpec:
    """One field of a node kind."""

    name: str
    type: FieldType
    nullable: bool
    indexed: bool

    @property
    def sealed(self) -> bool:
        """True if its values are encrypted before they reach a store."""
        return self.type is FieldType.SEALED


@dataclass(frozen=True, kw_only=True, slots=True)
class KindSpec:
    """One node kind: its class, prefix, fields and keys."""

    name: str
    prefix: str
    node: type[Node]
    fields: tuple[FieldSpec, ...]
    unique: tuple[tuple[str, ...], ...]
    indexes: tuple[tuple[str, ...], ...]
    guarded: bool


@cache
def kinds() -> Mapping[str, KindSpec]:
    """Return every kind by class name."""
    return {kind.__name__: _spec(kind) for kind in KINDS}


@cache
def kinds_by_prefix() -> Mapping[str, KindSpec]:
    """Return every kind by what `kind_key` gives of its ids."""
    return {f"{kind.prefix}/" if kind.node.SHARES_PREFIX else kind.prefix: kind for kind in kinds().values()}


def kind_key(node_id: str) -> str:
    """Return the part of an internal id that names its kind: the prefix, and where two kinds share it, a "/" for paths.

    >>> kind_key("ent_01"), kind_key("mem_01"), kind_key("mem_w/atlas/shared")
    ('ent', 'mem', 'mem/')
    """
    prefix = prefix_of(node_id)
    return f"{prefix}/" if prefix in _shared() and "/" in node_id else prefix


def kind_of(node_id: str) -> KindSpec | None:
    """Return the kind that an internal id names, or None.

    >>> kind_of("ent_01").name
    'Entry'
    """
    return kinds_by_prefix().get(kind_key(node_id))


@cache
def _shared() -> frozenset[str]:
    return frozenset(kind.PREFIX for kind in KINDS if kind.SHARES_PREFIX)


def _spec(kind: type[Node]) -> KindSpec:
    hints = get_type_hints(kind)
    return KindSpec(
        name=kind.__name__,
        prefix=kind.PREFIX,
        node=kind,
        fields=tuple(_field(f.name, hints[f.name], f.metadata) for f in fields(kind)),
        unique=kind.UNIQUE,
        indexes=kind.INDEXES,
        guarded=kind.GUARDED,
    )


def _field(name: str, hint: Any, metadata: Mapping[str, Any]) -> FieldSpec:
    inner, nullable = _without_none(hint)
    return FieldSpec(
        name=name,
        type=_field_type(inner),
        nullable=nullable or inner is Any,
        indexed=bool(metadata.get("indexed")),
    )


def _without_none(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) not in (Union, types.UnionType):
        return hint, False
    inner = [argument for argument in get_args(hint) if argument is not type(None)]
    return inner[0], len(inner) < len(get_args(hint))


def _field_type(hint: Any) -> FieldType:
    if get_origin(hint) is tuple:
        return FieldType.TEXTS
    return _SCALARS[getattr(hint, "__supertype__", hint)]
