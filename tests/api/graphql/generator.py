"""Random GraphQL requests made from the schema: sound ones, ill-typed ones and broken texts."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    get_named_type,
    is_leaf_type,
    is_required_argument,
)

from tests.support.operations import Json

TEXTS = (
    "",
    " ",
    "kiln",
    "words of a source",
    "Helio",
    "\u0000",
    "\u202edlrow",
    "e\u0301é",
    "x" * 3_000,
    "'; DROP TABLE node; --",
    "`) DETACH DELETE n //",
    "{{7*7}} ${x} %s %n",
    "../../etc/passwd",
    "国" * 300,
    "2025-05-10T09:00:00Z",
    "NaN",
    "null",
)
NUMBERS = (-1, 0, 1, 2, 3, 5, 20, 100, 101, 2**31 - 1, 2**31, 2**63, -(2**70), 1.5)
TIMES = (
    "2025-05-10T09:00:00.000Z",
    "1969-12-31T23:59:59Z",
    "9999-12-31T23:59:59.999Z",
    "2025-05-10T09:00:00+14:00",
    "2025-05-10",
    "2025-02-30T00:00:00Z",
    "+275760-09-13T00:00:00Z",
    "now",
    "",
)
NOISE = '{}()[]:$!@"\\#,|&=. \n\t\u0000…é'
OPERATIONS = (
    "createEntry",
    "renameEntry",
    "setType",
    "setSummary",
    "setAliases",
    "setAttributes",
    "addBlock",
    "editBlock",
    "deleteBlock",
    "addRelation",
    "removeRelation",
    "writeMemo",
    "updateSkillOverlay",
    "dropDatabase",
)
FIELDS: Json = {
    "name": TEXTS,
    "type": ("person", "concept", "practice", "knows", *TEXTS),
    "summary": TEXTS,
    "text": TEXTS,
    "basis": ("stated", "deduced", "induced", "authored", "x"),
    "standing": ("settled", "corrected", "disputed", "unconfirmed", "inferred", "x"),
    "change": ("addition", "evolution", "correction", "dispute", "rumour", "inference", "compression", "x"),
    "durability": ("durable", "transient", "x"),
    "expectedVersion": (0, 1, 2, "1", None, 10**20),
    "how": ("ended", "retracted", "x"),
    "quote": ("words of a source", *TEXTS),
    "validFrom": TIMES,
    "fromPrecision": ("year", "month", "day", "instant", "x"),
    "aliases": ([], ["a"], ["a", "A"], "a", None),
    "reason": TEXTS,
    "ref": ("e", "", 1),
}


@dataclass(kw_only=True)
class Generator:
    """Makes requests; equal seeds make equal ones.

    Attributes:
        ids: what arguments of type ID are chosen from.
        kinds: which of Query and Mutation.
        left_out: fields of these that are never asked.
    """

    schema: GraphQLSchema
    rng: random.Random
    ids: Sequence[str]
    kinds: tuple[str, ...] = ("Query", "Mutation")
    left_out: frozenset[str] = frozenset()
    variables: Json = field(default_factory=dict)
    declared: list[str] = field(default_factory=list)
    names: int = 0

    def request(self) -> tuple[str, Json]:
        """Return a document and its variables."""
        self.variables, self.declared = {}, []
        kind = self.rng.choice(self.kinds)
        root = self.schema.type_map[kind]
        assert isinstance(root, GraphQLObjectType)
        names = [name for name in root.fields if f"{kind}.{name}" not in self.left_out]
        chosen = self.rng.sample(names, self.rng.choice((1, 1, 1, 2)))
        body = " ".join(self._field(name, root.fields[name], 4) for name in chosen)
        head = f"({', '.join(self.declared)})" if self.declared else ""
        text = f"{kind.lower()}{head} {{ {body} }}"
        return (self._broken(text) if self.rng.random() < 0.08 else text), self.variables

    def _field(self, name: str, field_: GraphQLField, depth: int) -> str:
        self.names += 1
        alias = f"f{self.names}: {name}"
        given = [f"{arg}: {self._argument(spec)}" for arg, spec in field_.args.items() if self._wanted(spec)]
        return alias + (f"({', '.join(given)})" if given else "") + self._selection(field_, depth)

    def _wanted(self, argument: GraphQLArgument) -> bool:
        return is_required_argument(argument) or self.rng.random() < 0.4

    def _argument(self, argument: GraphQLArgument) -> str:
        name = f"v{len(self.variables)}"
        self.variables[name] = self._value(argument.type)
        self.declared.append(f"${name}: {argument.type}")
        return f"${name}"

    def _selection(self, field_: GraphQLField, depth: int) -> str:
        kind = get_named_type(field_.type)
        if is_leaf_type(kind):
            return ""
        assert isinstance(kind, GraphQLObjectType | GraphQLInterfaceType)
        return f" {{ {self._members(kind, depth)} }}"

    def _members(self, kind: GraphQLObjectType | GraphQLInterfaceType, depth: int) -> str:
        possible = {n: f for n, f in kind.fields.items() if depth > 1 or is_leaf_type(get_named_type(f.type))}
        if not possible:
            return "__typename"
        parts = [
            self._field(name, possible[name], depth - 1)
            for name in self.rng.sample(sorted(possible), min(len(possible), self.rng.randint(1, 4)))
        ]
        if isinstance(kind, GraphQLInterfaceType) and self.rng.random() < 0.7:
            special = self.rng.choice(self.schema.get_possible_types(kind))
            parts.append(f"... on {special.name} {{ {self._members(special, depth - 1)} }}")
        return " ".join(parts)

    def _value(self, kind: GraphQLInputType) -> Any:
        if self.rng.random() < 0.03:
            return self.rng.choice((None, [], {}, "x", 0, [[None]], True))
        if isinstance(kind, GraphQLNonNull):
            return self._value(kind.of_type)
        if isinstance(kind, GraphQLList):
            return [self._value(kind.of_type) for _ in range(self.rng.choice((0, 1, 1, 2)))]
        if isinstance(kind, GraphQLEnumType):
            return self.rng.choice([*kind.values, "NO_SUCH"] if self.rng.random() < 0.1 else list(kind.values))
        if isinstance(kind, GraphQLInputObjectType):
            return {
                name: self._value(member.type)
                for name, member in kind.fields.items()
                if isinstance(member.type, GraphQLNonNull) or self.rng.random() < 0.3
            }
        assert isinstance(kind, GraphQLScalarType)
        return self._scalar(kind.name)

    def _scalar(self, name: str) -> Any:
        match name:
            case "ID":
                return self.rng.choice(self.ids) if self.rng.random() < 0.9 else self.rng.choice(TEXTS)
            case "Int" | "Long" | "Float":
                return self.rng.choice(NUMBERS[:8]) if self.rng.random() < 0.8 else self.rng.choice(NUMBERS)
            case "Boolean":
                return self.rng.random() < 0.5
            case "DateTime":
                return TIMES[0] if self.rng.random() < 0.6 else self.rng.choice(TIMES)
            case "JSON":
                return self._operation()
            case _:
                return self.rng.choice(TEXTS)

    def _operation(self) -> Json:
        """Return something like an operation of a list."""
        made: Json = {"op": self.rng.choice(OPERATIONS)}
        for name in self.rng.sample(sorted(FIELDS), self.rng.randint(2, 12)):
            made[name] = self.rng.choice(FIELDS[name])
        for name in self.rng.sample(("entry", "block", "relation", "subject", "object", "source"), 3):
            made[name] = self.rng.choice(self.ids)
        if self.rng.random() < 0.6:
            quote = {"source": self.rng.choice(self.ids), "quote": "words of a source", "role": "supports"}
            made["citations"] = [quote]
        if self.rng.random() < 0.3:
            made["blocks"] = [{k: v for k, v in made.items() if k not in ("op", "entry", "name", "aliases", "ref")}]
        return made

    def _broken(self, text: str) -> str:
        """Return the text with a few signs taken out, doubled or put in."""
        signs = list(text)
        for _ in range(self.rng.randint(1, 3)):
            at = self.rng.randrange(len(signs))
            signs[at : at + 1] = self.rng.choice(([], [signs[at]] * 2, [self.rng.choice(NOISE)]))
        return "".join(signs)


def body_of(request: tuple[str, Json]) -> bytes:
    """Return the body of an HTTP request."""
    return json.dumps({"query": request[0], "variables": request[1]}).encode()
