"""Executes the plain fields of an answer without ceremony; every other field goes the way of the library.

A plain field is an attribute of its object: no resolver, no arguments, no directives; of a leaf type, an object type
or a list of either. What the library makes for such a field (info, arguments, tests of its type, a task) says nothing
that the schema does not say once for all. Whatever is not in order about a plain field (a null where none may be, an
object of another type, a value that does not fit) is given to the library, which words the error. So results, errors
and their order stay those of the library. Source: GraphQL specification, section 6.4; ADR 0024.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from types import CoroutineType
from typing import Any, Final

from graphql import (
    GraphQLBoolean,
    GraphQLID,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLString,
    Undefined,
    is_leaf_type,
)
from graphql.pyutils import Path, gather_with_cancel
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types.field import StrawberryField

Read = Callable[[Any], Any]
"""From an object to the finished value of a leaf field, or `SLOW`."""

SLOW: Final = object()
"""Says that a field must go the way of the library."""

_INT_END: Final = 2**31
_DEFINITION: Final = GraphQLCoreConverter.DEFINITION_BACKREF


@dataclass(slots=True, eq=False)
class _Fields:
    """The asked fields of an object type, in the order of the answer.

    Attributes:
        asked: what the library collected; kept, so that its identity is not used again.
        each: response name, places in the document, and how it is read if it is plain.
    """

    type: GraphQLObjectType
    asked: Any
    is_of: Callable[[Any], bool]
    each: list[tuple[str, Any, Read | _Branch | None]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Branch:
    """A plain field of an object, or of a list of objects none of which is null."""

    get: Read
    details: Any
    type: Any
    of: GraphQLObjectType
    listed: bool
    nullable: bool
    fields: _Fields | None = None


class QuickExecutor(StrawberryGraphQLCoreExecutionContext):
    """The library's executor with a shorter way for plain fields."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._plans: dict[tuple[str, int], _Fields] = {}
        wrapped = self.middleware_manager is not None and self.middleware_manager.middlewares
        self._quick = self.abort_signal is None and self.error_propagation and not wrapped

    def execute_fields(
        self,
        parent_type: GraphQLObjectType,
        source_value: Any,
        path: Any,
        grouped_field_set: Any,
        position_context: Any,
    ) -> Any:
        """Execute the fields of one object; a coroutine if one of them waits."""
        if not self._quick or position_context is not None:
            return super().execute_fields(parent_type, source_value, path, grouped_field_set, position_context)
        return self._object(self._plan(parent_type, grouped_field_set), source_value, path)

    def _plan(self, parent_type: GraphQLObjectType, asked: Any) -> _Fields:
        key = (parent_type.name, id(asked))
        plan = self._plans.get(key)
        if plan is None:
            each = [(name, details, _plain(parent_type, details)) for name, details in asked.items()]
            plan = self._plans[key] = _Fields(parent_type, asked, _test_of(parent_type), each)
        return plan

    def _object(self, plan: _Fields, source: Any, path: Any) -> Any:
        results: dict[str, Any] = {}
        waiting: list[str] = []
        try:
            for name, details, read in plan.each:
                value = SLOW
                if read is not None:
                    value = self._branch(read, source, path, name, plan) if isinstance(read, _Branch) else read(source)
                if value is SLOW:
                    value = self.execute_field(plan.type, source, details, Path(path, name, plan.type.name), None)
                    if value is Undefined:
                        continue
                    if self.is_awaitable(value):
                        waiting.append(name)
                elif type(value) is CoroutineType:
                    waiting.append(name)
                results[name] = value
        except Exception:
            self._leave([results[name] for name in waiting])
            raise
        return _all_there(results, waiting) if waiting else results

    def _branch(self, branch: _Branch, source: Any, path: Any, name: str, parent: _Fields) -> Any:
        """Return the objects of a field, a coroutine for them, or `SLOW` if something is not in order."""
        value = branch.get(source)
        if value is None and branch.nullable:
            return None
        plan = branch.fields or self._below(branch)
        if branch.listed:
            if type(value) is not list or not all(map(plan.is_of, value)):
                return SLOW
        elif not plan.is_of(value):
            return SLOW
        here = Path(path, name, parent.type.name)
        try:
            found = self._list(plan, value, here) if branch.listed else self._object(plan, value, here)
        except Exception as error:  # noqa: BLE001 - the library decides whether it goes on to the parent
            self.handle_field_error(error, branch.type, branch.details, here)
            return None
        return self._guarded(found, branch, here) if branch.nullable and type(found) is CoroutineType else found

    def _below(self, branch: _Branch) -> _Fields:
        grouped, _, _ = self.collect_subfields(branch.of, branch.details)
        branch.fields = self._plan(branch.of, grouped)
        return branch.fields

    def _list(self, plan: _Fields, items: Sequence[Any], path: Path) -> Any:
        results: list[Any] = []
        waiting: list[int] = []
        try:
            for index, item in enumerate(items):
                value = self._object(plan, item, Path(path, index, None))
                if type(value) is CoroutineType:
                    waiting.append(index)
                results.append(value)
        except Exception:
            self._leave([results[index] for index in waiting])
            raise
        return _all_there(results, waiting) if waiting else results

    async def _guarded(self, found: Any, branch: _Branch, path: Path) -> Any:
        """Wait for a field that may be null; an error below makes it null."""
        try:
            return await found
        except Exception as error:  # noqa: BLE001 - the library keeps it and says null
            self.handle_field_error(error, branch.type, branch.details, path)
            return None

    def _leave(self, waiting: list[Any]) -> None:
        """Let what was begun come to its end, though nobody asks for it any more."""
        if waiting:
            self.settle_in_background(waiting)


async def _all_there(results: Any, waiting: Sequence[Any]) -> Any:
    """Return the same results with those in that were waited for."""
    if len(waiting) == 1:
        results[waiting[0]] = await results[waiting[0]]
        return results
    for place, value in zip(waiting, await gather_with_cancel(*(results[p] for p in waiting)), strict=True):
        results[place] = value
    return results


# --- which fields are plain, and how they are read


def _plain(parent: GraphQLObjectType, details: Any) -> Read | _Branch | None:
    """Return how a field is read; None if it is not plain."""
    node = details[0].node
    if any(place.node.directives for place in details) or node.arguments:
        return None
    if node.name.value == "__typename":
        return lambda _: parent.name
    asked = parent.fields.get(node.name.value)
    declared = None if asked is None else asked.extensions.get(_DEFINITION)
    if asked is None or asked.args or not isinstance(declared, StrawberryField):
        return None
    if not declared.is_basic_field or declared.default_resolver is not getattr:
        return None
    return _reader(attrgetter(declared.python_name), asked.type, details)


def _reader(get: Read, type_: Any, details: Any) -> Read | _Branch | None:
    inner, nullable = _without_null(type_)
    listed = isinstance(inner, GraphQLList)
    if listed:
        inner, empty = _without_null(inner.of_type)
        if empty:
            return None
    if is_leaf_type(inner):
        return _list_of(get, _finished(inner), nullable) if listed else _leaf(get, _finished(inner), nullable)
    if isinstance(inner, GraphQLObjectType):
        return _Branch(_safely(get), details, type_, inner, listed, nullable)
    return None


def _without_null(type_: Any) -> tuple[Any, bool]:
    return (type_.of_type, False) if isinstance(type_, GraphQLNonNull) else (type_, True)


def _safely(get: Read) -> Read:
    def read(source: Any) -> Any:
        try:
            return get(source)
        except Exception:  # noqa: BLE001 - the library meets it again and words it
            return SLOW

    return read


def _leaf(get: Read, finish: Read, nullable: bool) -> Read:
    def read(source: Any) -> Any:
        try:
            value = get(source)
            return finish(value) if value is not None else None if nullable else SLOW
        except Exception:  # noqa: BLE001 - the library meets it again and words it
            return SLOW

    return read


def _list_of(get: Read, finish: Read, nullable: bool) -> Read:
    def read(source: Any) -> Any:
        try:
            values = get(source)
            if values is None and nullable:
                return None
            finished = [SLOW if value is None else finish(value) for value in values]
        except Exception:  # noqa: BLE001 - the library meets it again and words it
            return SLOW
        return SLOW if type(values) is not list or SLOW in finished else finished

    return read


def _finished(type_: Any) -> Read:
    """Return what makes a value one of the answer, as the type does, or `SLOW`."""
    if type_ is GraphQLInt:
        return lambda value: value if type(value) is int and -_INT_END <= value < _INT_END else SLOW
    kept = {GraphQLString: str, GraphQLID: str, GraphQLBoolean: bool}.get(type_)
    if kept is not None:
        return lambda value: value if type(value) is kept else SLOW
    finish = type_.coerce_output_value

    def made(value: Any) -> Any:
        found = SLOW if isinstance(value, Exception) else finish(value)
        return SLOW if found is None or found is Undefined else found

    return made


def _test_of(type_: GraphQLObjectType) -> Callable[[Any], bool]:
    """Return a test that is true only of objects that the library would take for the type without asking anyone."""
    declared = type_.extensions.get(_DEFINITION)
    origin = getattr(declared, "origin", None)
    if origin is None or getattr(declared, "is_type_of", None):
        return lambda _: False
    return lambda value: type(value) is origin
