"""What one endpoint offers one caller at this moment: tools, and for knowledge also resources.

A `Place` is opened anew for every request, so nothing of a caller outlives his request, any server process can answer
the next one, and a right that is gone, or a run that ended, counts at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from api.auth import Authenticator
from dreaming.jobs import ModelMaker
from graph.model.errors import RootwardError
from graph.services.access.caller import Caller
from graph.services.deps import Deps


@dataclass(frozen=True, kw_only=True, slots=True)
class Kit:
    """What the endpoints work with.

    Attributes:
        models: makes models out of profiles, for what a tool asks of a model itself.
        host: the address that the server listens on.
        allowed_origins: of web pages that may send requests.
    """

    deps: Deps
    auth: Authenticator
    models: ModelMaker
    host: str
    allowed_origins: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Visit:
    """One request of a caller who was signed in.

    Attributes:
        ids: of the path, by name.
        query: parameters of the address.
        conversation: global id of the conversation that an agent speaks in, if the request names one.
    """

    kit: Kit
    caller: Caller
    ids: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    conversation: str | None = None

    @property
    def deps(self) -> Deps:
        """The ports of the core."""
        return self.kit.deps


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolOffer:
    """A tool as a model is shown it; `schema` is JSON Schema of an object.

    Attributes:
        reads: True: it changes nothing; None: nothing is told of that.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    reads: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolUse:
    """A call of a tool; `id` tells it from others if the client named it."""

    arguments: Mapping[str, Any]
    id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What a call gave, a JSON object, or how it failed."""

    body: Mapping[str, Any]
    failed: bool = False


class UnknownTool(Exception):
    """The place has no such tool for the caller now."""


class ToolRefused(Exception):
    """The tool may not be called here at all, which the model cannot mend; the cause is an error of the core."""

    def __init__(self, error: RootwardError) -> None:
        super().__init__()
        self.error = error


@dataclass(frozen=True, kw_only=True, slots=True)
class Readable:
    """A resource in a list."""

    uri: str
    name: str
    description: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Template:
    """Addresses of resources of one kind."""

    uri: str
    name: str
    description: str
    media_type: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadableText:
    """What a resource holds."""

    text: str
    media_type: str


class Shelf(Protocol):
    """Resources of a place."""

    templates: ClassVar[Sequence[Template]]

    async def page(self, cursor: str | None) -> tuple[Sequence[Readable], str | None]:
        """Return a page of resources, and the cursor of the next.

        Raises:
            CursorInvalid: not one of this list.
        """
        ...

    async def text(self, uri: str) -> ReadableText:
        """Return what a resource holds.

        Raises:
            NotFound: none that the caller sees.
        """
        ...


class Place(Protocol):
    """One endpoint, opened for one caller."""

    name: ClassVar[str]
    """Of the endpoint, for figures and traces."""

    @property
    def shelf(self) -> Shelf | None:
        """Resources, where there are some."""
        ...

    async def brief(self) -> str:
        """Return what a model is told before it begins; empty for nothing."""
        ...

    async def tools(self) -> Sequence[ToolOffer]:
        """Return the tools that the caller has now."""
        ...

    async def use(self, name: str, use: ToolUse) -> Told:
        """Call a tool.

        Raises:
            UnknownTool: there is none of this name now.
            ToolRefused: it may not be called here.
            RootwardError: the call failed, and only it; `failure` words it.
        """
        ...

    def failure(self, error: RootwardError) -> Mapping[str, Any]:
        """Return what a model is told of an error: ``{"error": code, "message": what to do, …}``."""
        ...
