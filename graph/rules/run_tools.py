"""The tools of the toolset `memory`: which a run is offered, for which mounts, how they are called (MT-49 to MT-62).

>>> [tool.key for tool in TOOLS if not tool.writes]
['file_view', 'file_grep', 'record_search', 'record_list']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from graph.model.nodes.workspace import MemoryKind
from graph.rules.memory_refusals import invalid
from graph.rules.run_mounts import Access

TOOLSET: Final = "memory"
MAX_PATTERN: Final = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Argument:
    """An argument of a tool, beside `memory`.

    Attributes:
        type: of JSON Schema: ``string``, ``integer`` or ``boolean``.
        default: None: it has to be given, unless it is `optional`.
        low, high: of a number.
    """

    type: str
    description: str = ""
    default: Any = None
    optional: bool = False
    low: int | None = None
    high: int | None = None

    @property
    def required(self) -> bool:
        """Whether a call has to give it."""
        return self.default is None and not self.optional

    def schema(self) -> dict[str, Any]:
        """Return the argument as JSON Schema."""
        given = {
            "description": self.description or None,
            "default": self.default,
            "minimum": self.low,
            "maximum": self.high,
        }
        return {"type": self.type, **{name: value for name, value in given.items() if value is not None}}


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """One tool; its name is ``memory_{key}``.

    Attributes:
        key: such as ``file_view``; what `disabled_tools` names.
        kind: of the memories that it serves.
        writes: needs a mount with access `write`, and the verb `run`.
    """

    key: str
    kind: MemoryKind
    description: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    writes: bool = False

    @property
    def name(self) -> str:
        """By which a model calls it."""
        return f"{TOOLSET}_{self.key}"

    @property
    def permission_id(self) -> str:
        """Such as ``memory.file.view``."""
        return f"{TOOLSET}.{self.key.replace('_', '.')}"


def _text(description: str = "", **more: Any) -> Argument:
    return Argument(type="string", description=description, **more)


def _number(default: int, high: int) -> Argument:
    return Argument(type="integer", description="at most so many", default=default, low=1, high=high)


def _flag(description: str) -> Argument:
    return Argument(type="boolean", description=description, default=False)


_PATH: Final = _text("path of a file, such as notes/style.md")
_PLACE: Final = _text("a file, or a directory; empty: all", default="")
_RECORD_ID: Final = _text("as record_search, record_list or record_add gave it")


def _file(key: str, description: str, *, writes: bool = True, **arguments: Argument) -> Tool:
    return Tool(key=f"file_{key}", kind=MemoryKind.FILE, description=description, arguments=arguments, writes=writes)


def _record(key: str, description: str, *, writes: bool = True, **arguments: Argument) -> Tool:
    return Tool(
        key=f"record_{key}", kind=MemoryKind.RECORD, description=description, arguments=arguments, writes=writes
    )


TOOLS: Final[Sequence[Tool]] = (
    _file("view", "List one level of a directory, or read a file with its version.", writes=False, path=_PLACE),
    _file(
        "grep",
        "Find lines that hold a text, or match a regular expression.",
        writes=False,
        pattern=_text("what a line holds"),
        path=_PLACE,
        regex=_flag("pattern is a regular expression"),
        case_sensitive=_flag("capitals and small letters differ"),
        limit=_number(50, 200),
    ),
    _file("create", "Make a file at a free path.", path=_PATH, content=_text("the whole text")),
    _file(
        "edit",
        "Replace the one occurrence of a text in a file.",
        path=_PATH,
        old_string=_text("occurs exactly once"),
        new_string=_text("what stands there afterwards"),
    ),
    _file("append", "Add text at the end of a file, on a new line.", path=_PATH, text=_text("what is added")),
    _file("move", "Move a file to a free path.", source=_PATH, destination=_PATH),
    _file(
        "delete",
        "Delete a file in the version that you viewed.",
        path=_PATH,
        version=Argument(type="integer", description="as file_view gave it", low=1),
    ),
    _record(
        "search",
        "Find the records nearest in meaning.",
        writes=False,
        query=_text("in plain words"),
        limit=_number(5, 20),
    ),
    _record(
        "list",
        "List records.",
        writes=False,
        limit=_number(20, 100),
        cursor=_text("next_cursor of the page before", optional=True),
    ),
    _record("add", "Add a record.", text=_text("what is to be kept")),
    _record("update", "Replace the text of a record.", record_id=_RECORD_ID, text=_text("the new text")),
    _record("delete", "Delete a record.", record_id=_RECORD_ID),
)
KEYS: Final = frozenset(tool.key for tool in TOOLS)
BY_NAME: Final[Mapping[str, Tool]] = {tool.name: tool for tool in TOOLS}


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """A mount of a run as the tools see it."""

    name: str
    kind: str
    access: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """A tool that a run is offered, for the mounts of these names."""

    tool: Tool
    memories: tuple[str, ...]

    def schema(self) -> dict[str, Any]:
        """Return the arguments as JSON Schema; `memory` is one of the mounts that the tool serves (MT-54)."""
        given = self.tool.arguments
        memory = {"type": "string", "enum": list(self.memories), "description": "name of the memory"}
        return {
            "type": "object",
            "properties": {"memory": memory, **{name: one.schema() for name, one in given.items()}},
            "required": ["memory", *(name for name, one in given.items() if one.required)],
            "additionalProperties": False,
        }


def default_toolsets() -> dict[str, Any]:
    """Return the toolsets of an agent that names none (MT-49)."""
    return {TOOLSET: {"enabled": True, "disabled_tools": []}}


def checked_toolsets(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return toolsets with all their fields.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at the field: an unknown toolset, field or key of a tool (MT-52).
    """
    at = f"toolsets.{TOOLSET}"
    for name in given:
        if name != TOOLSET:
            raise invalid(f"toolsets.{name}"[:200], "is no toolset")
    memory = given.get(TOOLSET, {})
    if not isinstance(memory, Mapping):
        raise invalid(at, "is an object")
    for name in memory:
        if name not in ("enabled", "disabled_tools"):
            raise invalid(f"{at}.{name}"[:200], "is no field of a toolset")
    enabled, disabled = memory.get("enabled", True), memory.get("disabled_tools", [])
    if not isinstance(enabled, bool):
        raise invalid(f"{at}.enabled", "is true or false")
    if not isinstance(disabled, list):
        raise invalid(f"{at}.disabled_tools", "is a list of keys of tools")
    for place, key in enumerate(disabled):
        if not isinstance(key, str) or key not in KEYS:
            raise invalid(f"{at}.disabled_tools.{place}", "is the key of a tool, such as file_view")
    return {TOOLSET: {"enabled": enabled, "disabled_tools": list(dict.fromkeys(disabled))}}


def offered(mounts: Sequence[Served], toolsets: Mapping[str, Any]) -> list[Offer]:
    """Return the tools of a run, each with the mounts whose kind and access allow it (MT-52 to MT-54)."""
    memory = {**default_toolsets()[TOOLSET], **(toolsets.get(TOOLSET) or {})}
    if not memory["enabled"]:
        return []
    offers = (Offer(tool=tool, memories=serving(tool, mounts)) for tool in TOOLS)
    return [offer for offer in offers if offer.memories and offer.tool.key not in memory["disabled_tools"]]


def serving(tool: Tool, mounts: Sequence[Served]) -> tuple[str, ...]:
    """Return the names of the mounts that a tool serves."""
    return tuple(
        mount.name for mount in mounts if mount.kind == tool.kind and (not tool.writes or mount.access == Access.WRITE)
    )


def checked_arguments(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call with their defaults, and `memory`.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at ``arguments.{name}``.
    """
    known = {"memory": _text(), **tool.arguments}
    for name in given:
        if name not in known:
            raise invalid(f"arguments.{name}"[:200], "is no argument of the tool")
    found: dict[str, Any] = {}
    for name, argument in known.items():
        value = given.get(name, argument.default)
        if value is None and argument.optional:
            found[name] = None
        elif not _fits(argument, value):
            missing = "" if name in given else "missing: it is "
            raise invalid(f"arguments.{name}", f"is {missing}{_wanted(argument)}")
        else:
            found[name] = value
    return found


_TYPES: Final[Mapping[str, type]] = {"string": str, "boolean": bool}


def _fits(argument: Argument, value: Any) -> bool:
    if argument.type != "integer":
        return isinstance(value, _TYPES[argument.type])
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return (argument.low is None or value >= argument.low) and (argument.high is None or value <= argument.high)


def _wanted(argument: Argument) -> str:
    bounds = "" if argument.high is None else f" of {argument.low} to {argument.high}"
    return f"of the type {argument.type}{bounds}"
