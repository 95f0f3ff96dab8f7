"""Bad input over GraphQL: each is a typed error that says what to do, and nothing is written.

What is hostile to the endpoint itself (documents, variables, bodies) is in test_hostile and tests/api/test_app.py; ids
that are hidden or foreign in test_identity; what fails below in test_faults.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.people import Token
from tests.api.clients import Answer, GraphQLClient, answer_of
from tests.api.conftest import ENGINES
from tests.api.graphql.test_entries import APPLY, ENTRY
from tests.support.neo4j_store import run
from tests.support.operations import Json, add, block, create, delete, edit, on_entry, relate, unrelate
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]

SEARCH = """
query($owner: ID!, $query: String!) {
  memorySearch(input: {query: $query, ownerId: $owner}) { items { kind ref text } routesSkipped { route } } }
"""
DELETE = 'mutation($id: ID!, $v: Int!) { deleteEntry(id: $id, expectedVersion: $v, reason: "r") { txId } }'
GUIDE = """
mutation($id: ID!, $text: String!, $v: Int!) {
  setCurationGuide(principalId: $id, text: $text, expectedVersion: $v) { version } }
"""
VERSIONS = """
query($block: ID!, $entry: ID!) {
  node(id: $block) { ... on Block { versions { totalCount edges { node { version text } } } } }
  entry(id: $entry) { version updatedAt audit { totalCount } attributes { key value } aliases summary } }
"""


def own(text: str) -> Json:
    """A block that Ana typed; it needs no citation (KN-68)."""
    return block(text, basis="authored")


@pytest.fixture
async def kb(world: TeamWorld, gid: Gid) -> str:
    """Ana's private base."""
    await world.say(world.chat, "hello")
    return gid(NodeId(str((await world.open(world.chat)).pool)))


@pytest.fixture
async def entry(ana: GraphQLClient, kb: str) -> tuple[str, str]:
    """An entry and its block, both at version 1."""
    answer = await ana.ok(APPLY, kb=kb, operations=[create("Helio", own("Builds kilns, and kilns alone."))])
    made = answer["applyOperations"]["results"][0]["createdIds"]
    return made[0], made[1]


Kept = Callable[[], Awaitable[list[Any]]]


@pytest.fixture
def kept(world: TeamWorld, engine: str, request: pytest.FixtureRequest) -> Kept:
    """Give a look at all that is stored, but for the day on which a token was last used."""
    if engine != "neo4j":
        return lambda: rows_of(world)
    uri = str(request.getfixturevalue("neo4j_uri"))
    query = "MATCH (n {workspace: $w}) WHERE NOT n:Token RETURN n.id, properties(n), COUNT { (n)--() } ORDER BY n.id"
    return lambda: run(uri, query, w=world.name)


async def rows_of(world: TeamWorld) -> list[Any]:
    return [row async for row in world.deps.store.export_rows() if not isinstance(row, Token)]


def refusal(answer: Answer) -> tuple[str, str]:
    """Return code and words of the only error."""
    (error,) = answer.errors
    return error["extensions"]["code"], error["message"]


def attributes(**values: Any) -> Json:
    return {key: {"value": value, "citations": [], "change": "addition"} for key, value in values.items()}


def many(count: int) -> Json:
    return attributes(**{f"k{n}": n for n in range(count)})


LIMITS: dict[str, tuple[Callable[[int], Json], int, int]] = {
    "name": (lambda n: create("x" * n, own("t")), 1, 200),
    "wide name": (lambda n: create("国" * n, own("t")), 1, 200),
    "aliases": (lambda n: create("Orion", own("t"), aliases=[f"alias {i}" for i in range(n)]), 0, 20),
    "alias": (lambda n: create("Orion", own("t"), aliases=["x" * n]), 1, 100),
    "summary": (lambda n: create("Orion", own("t"), summary="x" * n), 0, 600),
    "block": (lambda n: create("Orion", own("x" * n)), 1, 2_000),
    "attributes": (lambda n: create("Orion", own("t"), attributes=many(n)), 0, 50),
    "key": (lambda n: create("Orion", own("t"), attributes=attributes(**{"k" * n: 1})), 1, 64),
    "value": (lambda n: create("Orion", own("t"), attributes=attributes(k="x" * n)), 0, 1_000),
    "list": (lambda n: create("Orion", own("t"), attributes=attributes(k=["x" * n])), 0, 1_000),
}
"""Operations of a size, the least and the greatest size (KN-21)."""


@pytest.mark.req("KN-21", "KN-110")
@pytest.mark.parametrize(("make", "least", "most"), [pytest.param(*row, id=name) for name, row in LIMITS.items()])
async def test_a_limit_holds_on_both_sides(
    make: Callable[[int], Json], least: int, most: int, kept: Kept, ana: GraphQLClient, kb: str
) -> None:
    before = await kept()
    for size in {least - 1, most + 1} - {-1}:
        code, words = refusal(await ana.run(APPLY, kb=kb, operations=[make(size)]))
        assert (size, code) == (size, "LIMIT_EXCEEDED")
        assert "x" * 20 not in words
        assert any(sign.isdigit() for sign in words)
    assert await kept() == before
    for size in (least, most):
        answer = await ana.run(APPLY, kb=kb, operations=[make(size)], dryRun=True)
        assert answer.data["applyOperations"]["results"][0]["outcome"] == "ACCEPTED", answer


@pytest.mark.req("KN-21")
@pytest.mark.parametrize("key", ["K", "1k", "_k", "k-k", "k k", "ключ", "k`", "", "k\u0000"])
async def test_a_key_of_other_signs_is_refused(key: str, ana: GraphQLClient, kb: str) -> None:
    operation = create("Orion", own("t"), attributes=attributes(**{key: 1}))
    assert (await ana.run(APPLY, kb=kb, operations=[operation])).codes in (["LIMIT_EXCEEDED"], ["SCHEMA_INVALID"])


@pytest.mark.req("KN-78")
@pytest.mark.parametrize("key", ["confidence", "probability", "certainty", "score"])
async def test_a_figure_for_belief_is_refused(key: str, ana: GraphQLClient, kb: str) -> None:
    operation = create("Orion", own("t"), attributes=attributes(**{key: 1}))
    assert (await ana.run(APPLY, kb=kb, operations=[operation])).codes == ["NUMERIC_CONFIDENCE"]
    field = {**create("Orion", own("t")), key: 1}
    assert (await ana.run(APPLY, kb=kb, operations=[field])).codes == ["NUMERIC_CONFIDENCE"]


HOSTILE_NAMES = (
    "x` SET n.admin = true //",
    "x`) DETACH DELETE n //",
    "person'; DROP TABLE node; --",
    "{$gt: ''}",
    "p\u0000erson",
)


@pytest.mark.req("KN-19", "KN-21", "KN-27")
@pytest.mark.parametrize("engine", ENGINES, indirect=True)
async def test_types_relations_and_keys_that_look_like_queries_are_refused(
    kept: Kept, ana: GraphQLClient, kb: str, entry: tuple[str, str]
) -> None:
    """Bug case 3, input B: no node gains a property or disappears."""
    other = await ana.ok(APPLY, kb=kb, operations=[create("Orion", own("Belongs to Helio."))])
    orion = other["applyOperations"]["results"][0]["createdIds"][0]
    before = await kept()
    for name in HOSTILE_NAMES:
        for operation, code in (
            (create("Vega", own("t"), type=name), {"UNKNOWN_TYPE"}),
            (on_entry("setType", entry[0], 1, type=name), {"UNKNOWN_TYPE"}),
            (relate(orion, name, entry[0]), {"SCHEMA_INVALID"}),
            (on_entry("setAttributes", entry[0], 1, set=attributes(**{name: 1})), {"LIMIT_EXCEEDED"}),
            ({**create("Vega", own("t")), name: 1}, {"SCHEMA_INVALID"}),
            ({"op": name}, {"UNKNOWN_OPERATION"}),
        ):
            answer = await ana.run(APPLY, kb=kb, operations=[operation])
            assert set(answer.codes) == code, (name, operation)
            assert name not in answer.errors[0]["message"]
    assert await kept() == before
    # As plain text the same is kept as it is.
    name = HOSTILE_NAMES[1]
    plain = await ana.ok(APPLY, kb=kb, operations=[create(name, own(name), aliases=[HOSTILE_NAMES[0]])])
    shown = (await ana.ok(ENTRY, id=plain["applyOperations"]["results"][0]["createdIds"][0]))["entry"]
    assert (shown["name"], shown["aliases"], shown["blocks"][0]["current"]["text"]) == (name, [HOSTILE_NAMES[0]], name)
    assert (await ana.ok(ENTRY, id=entry[0]))["entry"]["name"] == "Helio"


HOSTILE_SEARCHES = (
    "root causes/solutions",
    "a AND (",
    '"',
    "*",
    "C++ && !x",
    "field:value",
    "NEAR(a b, 2)",
    "a* OR b^2 ~",
    "\\",
    "' OR 1=1 --",
    "\u202e\u0000\ufffe",
)


@pytest.mark.req("RE-9", "RE-35")
@pytest.mark.parametrize("engine", ENGINES, indirect=True)
async def test_searches_that_look_like_queries_never_fail(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    """Bug case 3, input A."""
    owner = gid(world.atlas)
    source = gid(await world.say(world.ops, "We list root causes/solutions for the kiln."))
    for query in HOSTILE_SEARCHES:
        found = (await ben.ok(SEARCH, owner=owner, query=query))["memorySearch"]["items"]
        assert [item["ref"] for item in found] == ([source] if "root" in query else []), query
    # What is too short or too long is refused with the reason (RE-35): 1 to 1,000 characters.
    for query in ("", "   ", "kiln " * 5_000):
        code, words = refusal(await ana.run(SEARCH, owner=owner, query=query))
        assert code in ("BAD_INPUT", "LIMIT_EXCEEDED")
        assert "1,000" in words or "1000" in words or "empty" in words or "words" in words, words


@pytest.mark.req("KN-87", "KN-23", "KN-22")
@pytest.mark.parametrize("engine", ENGINES, indirect=True)
async def test_a_stale_version_changes_nothing_and_tells_the_present_one(
    kept: Kept, ana: GraphQLClient, kb: str, entry: tuple[str, str]
) -> None:
    """Bug case 19: the version of the reader is A (1), a second edit made it B (2)."""
    id_, block_id = entry
    alone = "Builds kilns, and kilns alone. Since 1990."
    await ana.ok(APPLY, kb=kb, operations=[edit(block_id, 1, own(alone))])
    setting = on_entry("setAttributes", id_, 1, set=attributes(seat="Bonn"))
    await ana.ok(APPLY, kb=kb, operations=[setting])
    before, rows = await ana.ok(VERSIONS, block=block_id, entry=id_), await kept()
    # The phrase of A still occurs exactly once in B; that does not make the old version good.
    stale: list[Json] = [
        edit(block_id, 1, own("Builds ovens, and kilns alone.")),
        edit(block_id, 3, own("Builds ovens.")),
        edit(block_id, 0, own("Builds ovens.")),
        delete(block_id, 1),
        on_entry("renameEntry", id_, 1, name="Helios"),
        on_entry("setType", id_, 1, type="place"),
        on_entry("setSummary", id_, 1, summary="s", fromBlocks=[block_id]),
        on_entry("setAliases", id_, 1, aliases=["kilns"]),
        on_entry("setAttributes", id_, 1, set=attributes(seat="Rome")),
        on_entry("setAttributes", id_, 1, unset=["seat"]),
    ]
    for operation in stale:
        answer = await ana.run(APPLY, kb=kb, operations=[operation])
        assert answer.codes == ["VERSION_CONFLICT"], operation
        current = answer.errors[0]["extensions"]["current"]
        assert current["version"] == 2, answer.errors
        if "block" in operation:
            assert current["text"] == alone
    answer = await ana.run(DELETE, id=id_, v=1)
    assert answer.codes == ["VERSION_CONFLICT"]
    assert answer.errors[0]["extensions"]["current"] == {"version": 2, "name": "Helio"}
    # Without a version, or with a word for any, there is no edit.
    for version in (None, "*", "2", 2.5, True, -1):
        operation = {**edit(block_id, 2, own("Builds ovens.")), "expectedVersion": version}
        assert (await ana.run(APPLY, kb=kb, operations=[operation])).codes == ["SCHEMA_INVALID"]
    without = edit(block_id, 2, own("Builds ovens."))
    del without["expectedVersion"]
    assert (await ana.run(APPLY, kb=kb, operations=[without])).codes == ["SCHEMA_INVALID"]
    assert (await ana.run(DELETE, id=id_)).codes == ["BAD_INPUT"]
    assert await ana.ok(VERSIONS, block=block_id, entry=id_) == before
    assert await kept() == rows
    # The present version is taken, and what the edit does not name keeps its value.
    await ana.ok(APPLY, kb=kb, operations=[on_entry("setType", id_, 2, type="place")])
    after = await ana.ok(VERSIONS, block=block_id, entry=id_)
    assert after["entry"]["attributes"] == before["entry"]["attributes"]
    assert after["node"] == before["node"]


@pytest.mark.req("KN-87", "KN-31")
async def test_a_stale_version_of_a_relation_guide_or_setting_changes_nothing(
    kept: Kept, world: TeamWorld, ana: GraphQLClient, dan: GraphQLClient, kb: str, entry: tuple[str, str], gid: Gid
) -> None:
    orion = create("Orion", own("Belongs to Helio."), ref="o")
    made = await ana.ok(APPLY, kb=kb, operations=[orion, relate("o", "belongs_to", entry[0])])
    relation = made["applyOperations"]["results"][1]["createdIds"][0]
    own_guide = gid(world.ana)
    await ana.ok(GUIDE, id=own_guide, text="Be brief.", v=0)
    setting = 'mutation($v: Int) { setSetting(name: "search.rrf_k", value: 20, expectedVersion: $v) { version } }'
    await dan.ok(setting, v=0)
    before = await kept()
    for version in (0, 2):
        answer = await ana.run(APPLY, kb=kb, operations=[unrelate(relation, version, "retracted")])
        assert answer.codes == ["VERSION_CONFLICT"]
        assert answer.errors[0]["extensions"]["current"]["version"] == 1
    for version in (0, 2):
        assert (await ana.run(GUIDE, id=own_guide, text="Be long.", v=version)).codes == ["VERSION_CONFLICT"]
        refused = await dan.refused(setting, v=version)
        assert (refused["code"], refused["current"]) == ("VERSION_CONFLICT", {"version": 1, "value": 20})
    assert await kept() == before


CURSORS = ("", "x", "AAAA", "💥", "bm90IGEgY3Vyc29y", "=" * 50, "A" * 10_000, "\u0000")


@pytest.mark.req("KN-113")
async def test_a_bad_cursor_is_refused_on_every_connection(
    world: TeamWorld, ana: GraphQLClient, kb: str, entry: tuple[str, str], gid: Gid
) -> None:
    page = "pageInfo { endCursor } edges { cursor }"
    connections = {
        "owners": f"query($a: String) {{ it: owners(first: 1, after: $a) {{ {page} }} }}",
        "bases": f"query($a: String, $o: ID!) {{ it: knowledgeBases(ownerId: $o, after: $a) {{ {page} }} }}",
        "entries": f"query($a: String, $o: ID!) {{ it: entries(ownerId: $o, after: $a) {{ {page} }} }}",
        "audit": f"query($a: String) {{ it: auditLog(filter: {{}}, after: $a) {{ {page} }} }}",
        "materials": f"query($a: String, $o: ID!) {{ it: materials(ownerId: $o, after: $a) {{ {page} }} }}",
        **{
            name: f"query($a: String, $e: ID!) {{ entry(id: $e) {{ it: {name}(first: 1, after: $a) {{ {page} }} }} }}"
            for name in ("relations", "sources", "audit")
        },
        "versions": "query($a: String, $b: ID!) { node(id: $b) { ... on Block { it: versions(after: $a) {PAGE} } } }",
    }
    given = {"o": gid(world.atlas), "e": entry[0], "b": entry[1]}
    good: dict[str, str] = {}
    for name, text in connections.items():
        query = text.replace("{PAGE}", f"{{ {page} }}")
        variables = {key: value for key, value in given.items() if f"${key}:" in query}
        shown = await ana.ok(query, **variables)
        for part in ("entry", "node"):
            shown = shown.get(part, shown)
        if shown["it"]["edges"]:
            good[name] = shown["it"]["edges"][0]["cursor"]
        for cursor in (*CURSORS, *(c for other, c in good.items() if other != name)):
            answer = await ana.run(query, a=cursor, **variables)
            assert answer.codes == ["CURSOR_INVALID"], (name, cursor[:40])
    assert len(good) >= 5


@pytest.mark.req("KN-42", "DR-42")
@pytest.mark.parametrize(
    ("operations", "code"),
    [
        ([{}], "SCHEMA_INVALID"),
        ([None], "BAD_INPUT"),
        (["createEntry"], "SCHEMA_INVALID"),
        ([[]], "SCHEMA_INVALID"),
        ([{"op": None}], "SCHEMA_INVALID"),
        ([{"op": ["addBlock"]}], "SCHEMA_INVALID"),
        ([{"op": "addBlock"}], "SCHEMA_INVALID"),
        ([add("x", {"text": {"a": 1}})], "SCHEMA_INVALID"),
        ([{**create("Orion", own("t")), "extra": 1}], "SCHEMA_INVALID"),
        ([create("Orion")], "SCHEMA_INVALID"),
        ([create("Orion", own("t"))] * 999, "LIMIT_EXCEEDED"),
        ([create("Orion", own("t"))] * 1_000, "LIMIT_EXCEEDED"),
        ([add("nope", own("t"))], "EVIDENCE_NOT_FOUND"),
    ],
)
async def test_an_ill_formed_list_is_refused_whole(
    operations: list[Any], code: str, kept: Kept, ana: GraphQLClient, kb: str
) -> None:
    before = await kept()
    good = create("Vega", own("A star."))
    answer = await ana.run(APPLY, kb=kb, operations=[good, *operations])
    assert set(answer.codes) == {code}, answer
    assert await kept() == before


SAY = """
mutation($to: ID!, $messages: [MessageInput!]!) {
  ingestMessages(conversationId: $to, messages: $messages) { sourceIds sources { occurredAt } } }
"""


@pytest.mark.req("KN-65", "KN-110", "RE-6")
async def test_a_message_of_any_year_can_be_read_and_found_or_is_refused(
    ana: GraphQLClient, host: GraphQLClient, world: TeamWorld, gid: Gid, kept: Kept
) -> None:
    """A time that cannot be shown again would end every search that comes upon it."""
    conversation = await world.open(world.ops)
    to, said = gid(conversation.id), {"text": "The kiln is hot.", "speakerId": gid(world.ana)}
    before = await kept()
    for at in ("0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-14:00", "2025-05-10T10:00:00+00:00:30"):
        assert await host.code(SAY, to=to, messages=[{**said, "externalId": "m", "sentAt": at}]) == "BAD_INPUT"
    assert await kept() == before
    for at in ("0001-01-01T00:00:00-14:00", "9999-12-31T23:59:59+14:00"):
        await host.ok(SAY, to=to, messages=[{**said, "externalId": at, "sentAt": at}])
    for query in ("kiln", "kiln in January", "kiln on 31 December"):
        found = await ana.ok(SEARCH, owner=gid(world.atlas), query=query)
        assert "The kiln is hot." in str(found["memorySearch"]["items"])


@pytest.mark.req("KN-110")
@pytest.mark.parametrize(
    "mutation",
    [
        'mutation($x: String!) { createMemory(name: "Tea", guide: $x) { id } }',
        'mutation($x: String!) { callRunTool(runId: "r", tool: $x, toolCallId: "t") { __typename } }',
        'mutation($x: String!) { createMemoryFile(memoryId: "m", path: $x, content: $x) { id } }',
        "query($x: ID!) { node(id: $x) { id } }",
    ],
)
async def test_half_a_sign_is_refused_in_every_argument(ana: GraphQLClient, mutation: str) -> None:
    body = json.dumps({"query": mutation, "variables": {"x": "half \ud800"}}).encode("ascii")
    headers = {"Authorization": f"Bearer {ana.token}", "content-type": "application/json"}
    assert answer_of(await ana.http.post("/graphql", content=body, headers=headers)).codes == ["BAD_INPUT"]


@pytest.mark.req("KN-110")
async def test_half_a_sign_is_refused(kept: Kept, ana: GraphQLClient, kb: str) -> None:
    """A lone surrogate can be written in JSON, but in no store."""
    before = await kept()
    variables = {"kb": kb, "operations": [create("half \ud800", own("t \udfff"))]}
    body = json.dumps({"query": APPLY, "variables": variables}).encode("ascii")
    headers = {"Authorization": f"Bearer {ana.token}", "content-type": "application/json"}
    answer = answer_of(await ana.http.post("/graphql", content=body, headers=headers))
    assert len(answer.codes) == 1
    assert set(answer.codes) <= {"BAD_INPUT", "SCHEMA_INVALID"}, answer
    assert await kept() == before
