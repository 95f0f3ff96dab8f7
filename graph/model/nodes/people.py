"""Workspaces, people, agents, groups, and what gives them rights."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from graph.model.fields import Json, Node, indexed
from graph.model.ids import NodeId
from graph.model.time import Millis


class PrincipalKind(StrEnum):
    """Kinds of principals."""

    HUMAN = "human"
    AGENT = "agent"
    SERVICE = "service"


class Right(StrEnum):
    """Rights of AD-5."""

    ADMIN = "admin"
    AUDITOR = "auditor"
    CURATOR = "curator"
    READER = "reader"
    WRITE = "write"
    RUN = "run"
    READ = "read"
    HOST = "host"


@dataclass(frozen=True, kw_only=True, slots=True)
class Workspace(Node):
    """The tenant. Its id is ``wsp_<name>``; `workspace` repeats its name.

    Attributes:
        key_id: id of the newest epoch key that may have sealed something here: without it the store is not opened
            (AD-29); None in a store that never had one.
    """

    PREFIX: ClassVar[str] = "wsp"
    GUARDED: ClassVar[bool] = False
    display_name: str
    access_version: int = 1
    anchor_seq: int = 0
    anchor_head: str = ""
    key_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Organization(Node):
    """A group of people with settings, inside a workspace. Members: MEMBER_OF edges."""

    PREFIX: ClassVar[str] = "org"
    GUARDED: ClassVar[bool] = False
    display_name: str
    settings: Json = None
    version: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Principal(Node):
    """A person, an agent or a service.

    Attributes:
        home_id: of a linked bot: the bot it is a link to, whose memory it has.
        shared: of an agent: several members use it (AM-44).
        deleted_at: of an agent: its memories are gone, nobody has rights on it; the id stays taken (AD-19).
    """

    PREFIX: ClassVar[str] = "prn"
    kind: str = indexed()
    display_name: str
    access_version: int = 1
    disabled_at: Millis | None = None
    oidc_subject: str | None = indexed(None)
    profile: Json = None
    home_id: NodeId | None = None
    shared: bool = False
    deleted_at: Millis | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Group(Node):
    """A set of people with present members (MEMBER_OF edges)."""

    PREFIX: ClassVar[str] = "grp"
    GUARDED: ClassVar[bool] = False
    display_name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant(Node):
    """A right of one principal on one object; revoked grants are deleted."""

    PREFIX: ClassVar[str] = "gra"
    GUARDED: ClassVar[bool] = False
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("principal_id", "right", "object_id"),)
    principal_id: NodeId = indexed()
    right: str = indexed()
    object_id: NodeId = indexed()
    granted_by: NodeId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Token(Node):
    """A bearer token; only the SHA-256 of its secret is kept."""

    PREFIX: ClassVar[str] = "tok"
    GUARDED: ClassVar[bool] = False
    public_id: str = indexed()
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("public_id",),)
    secret_hash: str
    principal_id: NodeId = indexed()
    organization_id: NodeId | None = None
    rights: tuple[str, ...] | None = None
    expires_at: Millis
    last_used_day: str | None = None
    revoked_at: Millis | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SettingValue(Node):
    """A setting that differs from its default, for a workspace or one agent (`scope_id`)."""

    PREFIX: ClassVar[str] = "set"
    GUARDED: ClassVar[bool] = False
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("scope_id", "name"),)
    scope_id: NodeId = indexed()
    name: str
    value: Json = None
    version: int = 1
