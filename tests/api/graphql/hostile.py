"""Hostile documents (cases E2 and 13): each must be refused with a type before it runs, and cost next to nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Hostile = tuple[str, str, dict[str, Any]]
"""A name, a document and its variables."""

ENTRY = "entry(id: $id)"


def corpus() -> list[Hostile]:
    """Return every hostile document, each with a name of its own."""
    made = [*_deep(), *_wide(), *_repeated(), *_fragments(), *_directives(), *_literals(), *_costly(), *_broken()]
    names = [name for name, _, _ in made]
    assert len(set(names)) == len(names)
    return made


def _deep() -> Iterator[Hostile]:
    for levels in (4, 6, 10, 20, 40, 100, 500, 5_000):
        hop = "relations { edges { node { subject { "
        text = "query($id: ID!) { entry(id: $id) { " + hop * levels + "id" + " } } } }" * levels + " } }"
        yield f"deep {levels}", text, {"id": "x"}
    for levels in (16, 60, 1_000):
        spreads = " ".join(
            f"fragment F{i} on Entry {{ relations {{ edges {{ node {{ subject {{ ...F{i + 1} }} }} }} }} }}"
            for i in range(levels)
        )
        yield (
            f"deep fragments {levels}",
            f"{{ entry(id: 1) {{ ...F0 }} }} {spreads} fragment F{levels} on Entry {{ id }}",
            {},
        )
    for levels in (49, 1_000, 30_000):
        yield f"open braces {levels}", "{" * levels, {}
        yield (
            f"inline fragments inside each other {levels}",
            "{" + "... on Query {" * levels + "viewer { id }" + "}" * levels + "}",
            {},
        )


def _wide() -> Iterator[Hostile]:
    for count in (51, 101, 1_000, 2_000):
        yield f"aliases {count}", "{" + " ".join(f"a{i}: viewer {{ id }}" for i in range(count)) + "}", {}
        yield f"aliased leaves {count}", "{ viewer {" + " ".join(f"a{i}: id" for i in range(count)) + "} }", {}
        yield f"aliased introspection {count}", "{" + " ".join(f"a{i}: __typename" for i in range(count)) + "}", {}
    for count in (2_000, 10_000):
        yield f"tokens {count}", "{ viewer { " + "id " * count + "} }", {}
        yield f"arguments {count}", "{ node(" + " ".join(f"a{i}: 1" for i in range(count)) + ") { id } }", {}
        yield (
            f"unused variables {count}",
            "query(" + " ".join(f"$v{i}: ID" for i in range(count)) + ") { viewer { id } }",
            {},
        )
        yield f"operations {count}", " ".join(f"query Q{i} {{ viewer {{ id }} }}" for i in range(count)), {}
    yield "a document of 1 MB", "{ viewer { id } } #" + "x" * 1_000_000, {}
    yield "comments without end", "#\n" * 30_000 + "{ viewer { id } }", {}


def _repeated() -> Iterator[Hostile]:
    for count in (33, 500, 1_900):
        yield f"one leaf {count} times", "{ viewer { " + "id " * count + "} }", {}
        yield f"one typename {count} times", "{ " + "__typename " * count + "}", {}
    for count in (33, 300):
        yield f"one object {count} times", "{ " + "viewer { id } " * count + "}", {}
        yield f"one inline fragment {count} times", "{ " + "... on Query { viewer { id } } " * count + "}", {}
        yield f"one spread {count} times", "{ " + "...F " * count + "} fragment F on Query { viewer { id } }", {}
    inner = "... on Principal { id } " * 100
    yield "200 x 100 inline fragments", "{ " + f"viewer {{ {inner} }} " * 200 + "}", {}
    yield (
        "30 x 60 inline fragments",
        "{ " + "".join(f"viewer {{ {'... on Principal { id } ' * 60} }} " for _ in range(30)) + "}",
        {},
    )


def _fragments() -> Iterator[Hostile]:
    yield "a fragment of itself", "{ ...A } fragment A on Query { ...A }", {}
    yield "a fragment below itself", "{ viewer { ...A } } fragment A on Principal { id ...A }", {}
    for ring in (2, 3, 20, 60):
        rest = " ".join(f"fragment F{i} on Query {{ ...F{(i + 1) % ring} }}" for i in range(ring))
        yield f"a ring of {ring} fragments", f"{{ ...F0 }} {rest}", {}
        yield f"an unused ring of {ring} fragments", f"{{ viewer {{ id }} }} {rest}", {}
    for doublings in (12, 20, 30):
        rest = " ".join(_doubling(i) for i in range(doublings))
        text = f"{{ entry(id: 1) {{ ...F0 }} }} {rest} fragment F{doublings} on Entry {{ id }}"
        yield f"aliases doubled {doublings} times", text, {}
    for count in (65, 400):
        yield (
            f"{count} fragments",
            "{ viewer { id } } " + " ".join(f"fragment F{i} on Query {{ viewer {{ id }} }}" for i in range(count)),
            {},
        )
    yield "a spread of nothing", "{ ...Nothing }", {}


def _directives() -> Iterator[Hostile]:
    for count in (51, 500, 10_000):
        yield f"directives {count}", "{ viewer " + "@include(if: true) " * count + "{ id } }", {}
        yield f"unknown directives {count}", "{ viewer " + "@a " * count + "{ id } }", {}
    yield (
        "directives on everything",
        "query Q "
        + "@a " * 20
        + "{ ...F "
        + "@a " * 20
        + "} fragment F on Query "
        + "@a " * 20
        + "{ viewer "
        + "@a " * 20
        + "{ id } }",
        {},
    )


def _literals() -> Iterator[Hostile]:
    for levels in (49, 500, 20_000):
        yield f"list literal {levels}", "{ node(id: " + "[" * levels + "]" * levels + ") { id } }", {}
        yield f"object literal {levels}", "{ node(id: " + "{a: " * levels + "1" + "}" * levels + ") { id } }", {}
        yield f"list type {levels}", "query($v: " + "[" * levels + "ID" + "]" * levels + ") { viewer { id } }", {}
    yield (
        "a huge number",
        "{ node(id: "
        + "9" * 50_000
        + ") { id first: id } entries(ownerId: 1, first: "
        + "9" * 10_000
        + ") { totalCount } }",
        {},
    )
    yield "a number that is no Int", "{ entries(ownerId: 1, first: 99999999999) { totalCount } }", {}
    inner = "relations(first: $n) { edges { node { subject { id } } } }"
    paged = f"query($n: Int) {{ entries(ownerId: 1, first: $n) {{ edges {{ node {{ {inner} }} }} }} }}"
    yield "a page of a million", paged, {"n": 1_000_000}
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    yield "deep variables", "query($v: ID!) { node(id: $v) { id } }", {"v": deep}
    yield "a wide variable where one id is due", "query($v: ID!) { node(id: $v) { id } }", {"v": list(range(20_000))}
    yield "an object where a text is due", "query($v: ID!) { node(id: $v) { id } }", {"v": {"$gt": ""}}


def _costly() -> Iterator[Hostile]:
    related = "relations(first: 100) { edges { node { subject { id } } } }"
    audited = "audit(first: 100) { edges { node { actor { id } target { id } } } }"
    for first in (51, 75, 100):
        for name, inner in (("relations", related), ("audits", audited)):
            text = f"{{ entries(ownerId: 1, first: {first}) {{ edges {{ node {{ {inner} }} }} }} }}"
            yield f"{first} pages of {name}", text, {}
    blocks = "blocks { current { citations { source { id } } } versions(first: 100) { edges { node { id } } } }"
    for times in (3, 8, 40):
        page = f"entries(ownerId: 1, first: 100) {{ edges {{ node {{ {blocks} }} }} }}"
        yield f"{times} pages with all their blocks", "{ " + " ".join(f"a{i}: {page}" for i in range(times)) + " }", {}
    yield "introspection", "{ __schema { types { name fields { name type { name ofType { name } } } } } }", {}
    yield "introspection of a type", '{ __type(name: "Query") { name } }', {}
    yield "introspection in a fragment", "{ ...F } fragment F on Query { __schema { queryType { name } } }", {}
    circle = "fields { type { " * 8 + "name" + " } }" * 8
    yield "circular introspection", f"{{ __schema {{ types {{ {circle} }} }} }}", {}


def _broken() -> Iterator[Hostile]:
    texts = {
        "nothing": "",
        "blanks": "   ",
        "a comment": "# nothing",
        "an open text": '{ node(id: "abc',
        "an open block text": '{ node(id: """abc',
        "control signs": "{ viewer { id } } \x00\x01",
        "a lone surrogate": '{ node(id: "\\ud800") { id } zzz }',
        "no operation": "fragment F on Query { viewer { id } }",
        "two nameless operations": "{ viewer { id } } { viewer { id } }",
        "a type definition": "type Query { a: Int }",
        "an unknown field": "{ nothing }",
        "an unknown argument": "{ viewer(id: 1) { id } }",
        "an object without fields": "{ viewer }",
        "fields of a leaf": "{ viewer { id { id } } }",
        "an undefined variable": "{ node(id: $v) { id } }",
        "a missing variable": "query($v: ID!) { node(id: $v) { id } }",
        "two meanings of one name": "{ a: viewer { id } a: settings { name } }",
        "a subscription over HTTP": "subscription { auditFeed { id } }",
        "not GraphQL": "SELECT * FROM users; --",
        "brackets the wrong way": "}{",
        "an anonymous one beside a named one": "{ viewer { id } } query Q { viewer { id } }",
        "a deferred fragment": "{ ... @defer { viewer { id } } }",
    }
    for name, text in texts.items():
        yield name, text, {}


def _doubling(number: int) -> str:
    """Return a fragment that spreads the next one twice."""
    next_ = f"...F{number + 1}"
    ways = (
        f"{end[0]}{number}: relations {{ edges {{ node {{ {end} {{ {next_} }} }} }} }}" for end in ("subject", "object")
    )
    return f"fragment F{number} on Entry {{ {' '.join(ways)} }}"
