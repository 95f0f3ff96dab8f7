"""What a GraphQL request may cost, decided before it runs (KN-115, cases E1, E2, 13).

All of it is linear in the length of the document: nesting is measured on the text before the recursive parser sees it,
fragments are measured once each, and a cycle of fragments is refused here, before any rule walks it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLNamedType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    Node,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    get_named_type,
    is_composite_type,
    is_list_type,
)
from graphql.type import GraphQLField, GraphQLInterfaceType, GraphQLNonNull, GraphQLObjectType

from graph.model.errors import BadInput, QueryTooComplex
from graph.text.outside import has_surrogate

MAX_DOCUMENT_CHARACTERS = 65_536
MAX_NESTING = 48
"""Brackets of any kind inside one another, literals included."""
MAX_FRAGMENTS = 64
MAX_SAME_KEY = 32
"""Selections with one response key in one selection set: comparing them is quadratic in the validator."""
MAX_JSON_DEPTH = 64
MAX_FIRST = 100
DEFAULT_FIRST = 20
LIST_ESTIMATE = 5
"""Members of a list that has no `first`."""

LONG_LISTS: Mapping[tuple[str, str], int] = {
    ("ProvenanceGraph", "nodes"): 100,
    ("ProvenanceGraph", "edges"): 100,
    ("Neighborhood", "entries"): 100,
    ("Neighborhood", "relations"): 100,
    ("RestorePreview", "steps"): 20,
    ("MemorySearchResult", "items"): 20,
    ("DreamRun", "batches"): 10,
    ("SessionMemory", "entries"): 50,
    ("AgentMemory", "entries"): 50,
    ("BotMemory", "entries"): 50,
    ("Status", "alerts"): 16,
    ("Status", "stageA"): 50,
    ("Status", "memos"): 50,
    ("Status", "stuck"): 20,
}
"""Estimates of lists that are usually longer."""

_BRACKETS = re.compile(
    r'"""(?:[^"\\]|\\(?:""")?|"{1,2}(?!"))*"""|"(?:[^"\\\n]|\\.)*"|#[^\n\r]*|(?P<open>[{\[(])|(?P<close>[}\])])'
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The limits of one endpoint; see `api.settings.GraphQLSettings`."""

    depth: int = 15
    nodes: int = 5_000
    tokens: int = 4_000
    aliases: int = 50
    directives: int = 50


def check_text(query: str) -> None:
    """Refuse a document that is too long or too deeply nested to be parsed safely.

    Raises:
        QueryTooComplex: too long or too deep.
    """
    if len(query) > MAX_DOCUMENT_CHARACTERS:
        raise QueryTooComplex(f"send a document of at most {MAX_DOCUMENT_CHARACTERS} characters")
    depth = 0
    for match in _BRACKETS.finditer(query):
        if match.lastgroup == "open":
            depth += 1
            if depth > MAX_NESTING:
                raise QueryTooComplex(f"nest brackets at most {MAX_NESTING} deep", limit=MAX_NESTING)
        elif match.lastgroup == "close":
            depth -= 1


def check_json(value: Any) -> None:
    """Refuse variables that are nested too deeply, or hold what no answer could repeat and no store keep.

    Raises:
        BadInput: deeper than `MAX_JSON_DEPTH`, or with a lone surrogate, NaN or a number without bounds.
    """
    layer: list[Any] = [value]
    for _ in range(MAX_JSON_DEPTH + 1):
        layer = [child for one in layer for child in _children(one)]
        if any(_is_unsayable(one) for one in layer):
            raise BadInput("a text has a lone surrogate, or a number is not finite", field="variables")
        if not layer:
            return
    raise BadInput(f"nest values at most {MAX_JSON_DEPTH} deep", field="variables", limit=MAX_JSON_DEPTH)


def _children(value: Any) -> Sequence[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else ()


def _is_unsayable(value: Any) -> bool:
    if isinstance(value, str):
        return has_surrogate(value)
    return isinstance(value, float) and not isfinite(value)


def check_document(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    schema: GraphQLSchema,
    variables: Mapping[str, Any],
    limits: Limits,
) -> int:
    """Return the estimated number of nodes of an operation.

    Raises:
        QueryTooComplex: a limit is passed; the message says which.
    """
    return _Measure(document, schema, variables, limits).operation(operation)


@dataclass(frozen=True, slots=True)
class _Size:
    """Size of a selection set: `nodes` per node of its parent, `depth` in fields."""

    nodes: int = 0
    depth: int = 0


@dataclass(slots=True)
class _Measure:
    document: DocumentNode
    schema: GraphQLSchema
    variables: Mapping[str, Any]
    limits: Limits
    fragments: dict[str, FragmentDefinitionNode] = field(default_factory=dict)
    known: dict[tuple[str, int], _Size] = field(default_factory=dict)
    defaults: dict[str, Node] = field(default_factory=dict)

    def operation(self, operation: OperationDefinitionNode) -> int:
        for node in self.document.definitions:
            if isinstance(node, FragmentDefinitionNode):
                self.fragments[node.name.value] = node
        if len(self.fragments) > MAX_FRAGMENTS:
            raise QueryTooComplex(f"use at most {MAX_FRAGMENTS} fragments", limit=MAX_FRAGMENTS)
        self.defaults = {
            one.variable.name.value: one.default_value
            for one in operation.variable_definitions or ()
            if one.default_value is not None
        }
        self._count_syntax()
        self._check_cycles()
        root = self.schema.get_root_type(operation.operation)
        size = self._set(operation.selection_set, root, 1)
        if size.depth > self.limits.depth:
            raise QueryTooComplex(f"ask at most {self.limits.depth} levels deep", limit=self.limits.depth)
        if size.nodes > self.limits.nodes:
            raise QueryTooComplex(
                f"ask for at most {self.limits.nodes} nodes by estimate: smaller pages or fewer nested lists",
                limit=self.limits.nodes,
            )
        return size.nodes

    def _count_syntax(self) -> None:
        aliases = directives = 0
        for node in _walk(self.document):
            directives += len(getattr(node, "directives", None) or ())
            aliases += isinstance(node, FieldNode) and node.alias is not None
            if isinstance(node, SelectionSetNode):
                _check_same_keys(node)
        if aliases > self.limits.aliases:
            raise QueryTooComplex(f"use at most {self.limits.aliases} aliases", limit=self.limits.aliases)
        if directives > self.limits.directives:
            raise QueryTooComplex(f"use at most {self.limits.directives} directives", limit=self.limits.directives)

    def _check_cycles(self) -> None:
        """Refuse fragments that lead back to themselves; depth-first without recursion."""
        spreads = {
            name: {n.name.value for n in _walk(node) if isinstance(n, FragmentSpreadNode)} & self.fragments.keys()
            for name, node in self.fragments.items()
        }
        while spreads:
            ends = [name for name, targets in spreads.items() if not targets & spreads.keys()]
            if not ends:
                raise QueryTooComplex("fragments may not lead back to themselves")
            for name in ends:
                del spreads[name]

    def _set(self, selections: SelectionSetNode | None, parent: GraphQLNamedType | None, edges: int) -> _Size:
        if selections is None:
            return _Size()
        nodes = depth = 0
        for selection in selections.selections:
            size = self._selection(selection, parent, edges)
            nodes += size.nodes
            depth = max(depth, size.depth)
        return _Size(min(nodes, self.limits.nodes + 1), depth)

    def _selection(self, selection: Node, parent: GraphQLNamedType | None, edges: int) -> _Size:
        if isinstance(selection, FieldNode):
            return self._field(selection, parent, edges)
        if isinstance(selection, InlineFragmentNode):
            condition = selection.type_condition
            inner = self.schema.get_type(condition.name.value) if condition else parent
            return self._set(selection.selection_set, inner, edges)
        if isinstance(selection, FragmentSpreadNode):
            return self._spread(selection.name.value, edges)
        return _Size()

    def _spread(self, name: str, edges: int) -> _Size:
        fragment = self.fragments.get(name)
        if fragment is None:
            return _Size()
        if (name, edges) not in self.known:
            inner = self.schema.get_type(fragment.type_condition.name.value)
            self.known[name, edges] = self._set(fragment.selection_set, inner, edges)
        return self.known[name, edges]

    def _field(self, node: FieldNode, parent: GraphQLNamedType | None, edges: int) -> _Size:
        definition = _definition(parent, node.name.value)
        if definition is None:
            inner = self._set(node.selection_set, None, 1)
            return _Size(inner.nodes, inner.depth + 1)
        named = get_named_type(definition.type)
        times = self._times(node, definition, parent, edges)
        page = self._first(node) if "first" in definition.args else 1
        inner = self._set(node.selection_set, named, page)
        own = 1 if is_composite_type(named) and not _is_frame(named.name) else 0
        return _Size(min(times * (own + inner.nodes), self.limits.nodes + 1), inner.depth + 1)

    def _times(self, node: FieldNode, definition: GraphQLField, parent: GraphQLNamedType | None, edges: int) -> int:
        type_ = definition.type.of_type if isinstance(definition.type, GraphQLNonNull) else definition.type
        name = parent.name if parent else ""
        if not is_list_type(type_) or name.startswith("__"):
            return 1
        if name.endswith("Connection"):
            return edges
        if "first" in definition.args:
            return self._first(node)
        return LONG_LISTS.get((name, node.name.value), LIST_ESTIMATE)

    def _first(self, node: FieldNode) -> int:
        for argument in node.arguments or ():
            if argument.name.value == "first":
                return self._number(argument.value)
        return DEFAULT_FIRST

    def _number(self, value: Node) -> int:
        given: Any = DEFAULT_FIRST
        if isinstance(value, IntValueNode):
            given = int(value.value[:10])
        elif isinstance(value, VariableNode):
            name = value.name.value
            if name not in self.variables and name in self.defaults:
                return self._number(self.defaults[name])
            given = self.variables.get(name, DEFAULT_FIRST)
        return min(max(given, 1), MAX_FIRST) if isinstance(given, int) else DEFAULT_FIRST


def _walk(root: Node) -> Iterator[Node]:
    """Yield a node and all below it; the document was measured before, so the stack stays small."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        for key in node.keys:
            value = getattr(node, key, None)
            if isinstance(value, Node):
                stack.append(value)
            elif isinstance(value, list | tuple):
                stack.extend(child for child in value if isinstance(child, Node))


def _check_same_keys(selections: SelectionSetNode) -> None:
    keys: Counter[str] = Counter()
    stack: list[SelectionSetNode] = [selections]
    while stack:
        for one in stack.pop().selections:
            if isinstance(one, FieldNode):
                keys[one.alias.value if one.alias else one.name.value] += 1
            elif isinstance(one, FragmentSpreadNode):
                keys[f"...{one.name.value}"] += 1
            elif isinstance(one, InlineFragmentNode):
                keys["..."] += 1
                stack.append(one.selection_set)
    if keys and max(keys.values()) > MAX_SAME_KEY:
        raise QueryTooComplex(f"select the same thing at most {MAX_SAME_KEY} times in one place", limit=MAX_SAME_KEY)


def _definition(parent: GraphQLNamedType | None, name: str) -> GraphQLField | None:
    if isinstance(parent, GraphQLObjectType | GraphQLInterfaceType):
        found: GraphQLField | None = parent.fields.get(name)
        return found
    return None


def _is_frame(name: str) -> bool:
    """True for types that only frame others: they are no nodes of the graph."""
    return name.endswith(("Connection", "Edge", "Payload")) or name == "PageInfo" or name.startswith("__")
