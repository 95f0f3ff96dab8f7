"""A client cannot tell a service with hidden knowledge from its twin that never held it: the same bytes on every path.

The counterpart of `test_twin_library` over HTTP (goal E8, attack case 4): status, body and every header but those that
name the request must be equal for the same document, hidden ids asked for by name included. The one exception is in the
contract: to auditors and admins `explainVisibility` tells why a node is hidden (KN-120).
"""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports, build
from api.settings import Settings
from graph.model.fields import Node
from graph.model.ids import GlobalId, NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Entry
from graph.model.nodes.work import AuditRecord
from graph.model.schema import kind_of
from graph.store.port import Store
from tests.property.knowledge.conftest import NewStore, deps_of
from tests.property.knowledge.test_twin_library import hidden_from
from tests.support.clock import FakeClock
from tests.support.ids import SequentialIds
from tests.support.profile import sized
from tests.support.random_library import Asker, RandomLibrary, Truth, copy_of, random_library
from tests.support.randomness import SeededRandomness

pytestmark = pytest.mark.req("KN-60", "KN-61", "KN-114", "KN-115")

WORLDS = sized(small=1, full=20)
NAMED = sized(small=8, full=100_000)
"""How many nodes are asked for by id, hidden and visible ones alike."""

Document = tuple[str, dict[str, Any]]

PAGE = "totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
RELATIONS = f"relations(first: 2) {{ {PAGE} edges {{ cursor node {{ id type subject {{ id }} object {{ id }} }} }} }}"
ENTRY = f"""
query($id: ID!, $asOf: AsOf) {{ entry(id: $id, asOf: $asOf) {{
  id name type aliases summary version updatedAt projection
  attributes {{ key value citations {{ quote source {{ id }} }} }}
  blocks {{ id position current {{ id text stale citations {{ quote }} derivedFrom {{ id }} }}
    versions(first: 2) {{ {PAGE} edges {{ node {{ id version }} }} }} }}
  {RELATIONS}
  sources(first: 2) {{ {PAGE} edges {{ cursor node {{ id text }} }} }}
  audit(first: 3) {{ {PAGE} edges {{ cursor node {{ id seq operation before after }} }} }}
}} }}
"""
ENTRIES = f"""
query($owner: ID!, $first: Int, $after: String, $filter: EntryFilter) {{
  it: entries(ownerId: $owner, first: $first, after: $after, filter: $filter) {{
    {PAGE} edges {{ cursor node {{ id name summary aliases }} }} }} }}
"""
AUDIT = f"""
query($first: Int, $after: String, $filter: AuditFilter!) {{
  it: auditLog(filter: $filter, first: $first, after: $after) {{
    {PAGE} edges {{ cursor node {{ id seq operation before after target {{ id }} restoredBy {{ id }} }} }} }} }}
"""
BASES = (
    f"query($owner: ID!) {{ it: knowledgeBases(ownerId: $owner) {{ {PAGE} edges {{ cursor node {{ id kind }} }} }} }}"
)
OWNERS = f"{{ it: owners {{ {PAGE} edges {{ cursor node {{ id displayName }} }} }} }}"
LINT = f"""
query($owner: ID!, $first: Int, $after: String) {{ it: lint(ownerId: $owner, first: $first, after: $after) {{
  {PAGE} edges {{ cursor node {{ rule detail measure entries {{ id name }} }} }} }} }}
"""
RUNS = f"""
query($owner: ID!, $first: Int, $after: String) {{ it: dreamRuns(agentId: $owner, first: $first, after: $after) {{
  {PAGE} edges {{ cursor node {{ id state error operations rejected batches {{ id }}
    rejections {{ {PAGE} edges {{ cursor node {{ batchId index code }} }} }} }} }} }} }}
"""
# Without alerts: `evidence_withdrawn` says that statements of bases one reads are hidden (CO-69), so it tells the twins
# apart where a source was withdrawn, and only there.
STATE = """
query($owner: ID!) {
  status(ownerId: $owner) { stageB { pendingTotal lastRun { id } } stageA { pending }
    vectors { kind total } memos { used } stuck { id } lint { rule count } }
  survivalRate(agentId: $owner) { survived cohort }
}
"""
SEARCH = """
query($owner: ID!, $words: String!) { memorySearch(input: {query: $words, ownerId: $owner}) {
  totalTokens items { ref kind score text routes { route rank } } } }
"""
ASKED_BY_ID = (
    "query($id: ID!) { node(id: $id) { id __typename } }",
    "query($id: ID!) { entry(id: $id) { id } }",
    "query($id: ID!) { provenance(id: $id, depth: 16) { nodes { id } edges { from to type quote depth } truncated } }",
    "query($id: ID!) { provenance(id: $id, direction: DOWNSTREAM) { nodes { id } truncated } }",
    "query($id: ID!) { provenanceExport(id: $id, format: GRAPHML) }",
    "query($id: ID!) { neighborhood(entryId: $id, depth: 3, limit: 5) { truncated entries { id } relations { id } } }",
    "query($id: ID!) { memoryBrowse(ref: $id) { text next } }",
)
WITHDRAW = "mutation($id: ID!) { withdrawSource(id: $id) { txId } }"
EXPLAIN = "query($id: ID!) { explainVisibility(id: $id) { visible nodes { id } links { from to } } }"
WRITTEN_BY_ID = (
    'mutation($id: ID!) { deleteEntry(id: $id, expectedVersion: 1, reason: "r") { txId } }',
    'mutation($id: ID!) { mergeEntries(keepId: $id, otherId: $id, reason: "r") { id } }',
    'mutation($id: ID!) { markDistinct(a: $id, b: "x") }',
    'mutation($id: ID!) { restore(auditId: $id, reason: "r") { txId } }',
    "mutation($id: ID!) { retryLearning(materialId: $id) { id } }",
    'mutation($id: ID!) { submitText(ownerId: "x", kbId: $id, text: "t") { id } }',
    "query($id: ID!) { restorePreview(auditIds: [$id]) { previewHash } }",
)
OPERATIONS = """
mutation($kb: ID!, $operations: [JSON!]!) {
  applyOperations(kbId: $kb, operations: $operations, reason: "r", dryRun: true) { results { outcome code reason } } }
"""


@dataclass(kw_only=True)
class Twins:
    """Two services that a client asks in turn."""

    here: httpx2.AsyncClient
    there: httpx2.AsyncClient
    headers: dict[str, str]
    asked: int = 0
    codes: set[str] = field(default_factory=set)

    async def ask(self, document: Document) -> Any:
        """Ask both, compare everything, and return the body."""
        query, variables = document
        body = json.dumps({"query": query, "variables": variables}).encode()
        answers = []
        for client in (self.here, self.there):
            headers = {**self.headers, "content-type": "application/json"}
            response = await client.post("/graphql", content=body, headers=headers)
            kept = {k: v for k, v in response.headers.items() if k != "rootward-request-id"}
            answers.append((response.status_code, kept, response.content))
        assert answers[0] == answers[1], (query, variables, [answer[2] for answer in answers])
        self.asked += 1
        told = json.loads(answers[0][2])
        self.codes |= {error["extensions"]["code"] for error in told.get("errors", ())}
        return told

    async def pages(self, query: str, **variables: Any) -> None:
        """Ask for all pages, each by the cursor of the one before."""
        after = None
        while True:
            told = await self.ask((query, {**variables, "after": after}))
            page = (told.get("data") or {}).get("it")
            if page is None or not page["pageInfo"]["hasNextPage"]:
                return
            after = page["pageInfo"]["endCursor"]


@dataclass(kw_only=True)
class Script:
    """What is asked of both, in the words of a client.

    Attributes:
        named: nodes that are asked for by id.
        hidden: which of them the reader may not see.
        explains: the reader learns why something is hidden (auditors and admins).
        administers: the reader may withdraw what he does not read.
    """

    library: RandomLibrary
    nodes: dict[NodeId, Node]
    named: list[NodeId]
    hidden: set[NodeId]
    explains: bool
    administers: bool

    def gid(self, node: NodeId) -> str:
        spec = kind_of(node)
        assert spec is not None
        return GlobalId(kind=spec.name, workspace=self.library.world.workspace, node=node).encode()

    async def run(self, twins: Twins) -> None:
        await self._lists(twins)
        for document in [*self._by_id(), *self._writes(), *self._searches()]:
            await twins.ask(document)

    async def _lists(self, twins: Twins) -> None:
        owner = self.gid(self.library.world.atlas)
        filters: list[dict[str, Any]] = [{}, {"types": ["person"]}, {"text": "zq"}]
        filters += [{"text": word} for word in list(self.library.words.values())[::5]]
        filters += [{"citesSourceId": self.gid(source.id)} for source in self.library.sources[::5]]
        filters += [{"ids": [self.gid(entry.id) for entry in self.library.entries]}]
        filters += [{"kbIds": [self.gid(pool)]} for pool in self.library.pools]
        for number, filter in enumerate(filters):
            await twins.pages(ENTRIES, owner=owner, first=(1, 5, 53)[number % 3], filter=filter)
        for pool in self.library.pools:
            await twins.pages(AUDIT, first=20, filter={"kbIds": [self.gid(pool)]})
        await twins.pages(AUDIT, first=53, filter={})
        await twins.pages(LINT, owner=owner, first=3)
        await twins.pages(RUNS, owner=owner, first=2)
        await twins.ask((STATE, {"owner": owner}))
        await twins.ask((BASES, {"owner": owner}))
        await twins.ask((OWNERS, {}))

    def _by_id(self) -> Iterator[Document]:
        for node in self.named:
            for query in ASKED_BY_ID:
                yield query, {"id": self.gid(node)}
            if not self.explains:
                yield EXPLAIN, {"id": self.gid(node)}
            if isinstance(self.nodes[node], Entry):
                yield ENTRY, {"id": self.gid(node), "asOf": None}
                yield ENTRY, {"id": self.gid(node), "asOf": {"recorded": "2025-05-10T09:05:00.000Z"}}
            if isinstance(self.nodes[node], AuditRecord | Source):
                yield AUDIT, {"filter": {"targetId": self.gid(node)}}

    def _writes(self) -> Iterator[Document]:
        """Yield commands on hidden ids; each must fail, so nothing changes on either side."""
        hidden = [self.gid(node) for node in self.named if node in self.hidden]
        kb = self.gid(self.library.pools[2])
        for id_ in hidden:
            yield from ((query, {"id": id_}) for query in WRITTEN_BY_ID)
            if not self.administers:
                yield WITHDRAW, {"id": id_}
            citation = {"source": id_, "quote": "words of a source", "role": "supports"}
            stated = {"basis": "stated", "standing": "settled", "change": "addition", "durability": "durable"}
            block = {"op": "addBlock", "entry": id_, "text": "t", **stated, "citations": [citation]}
            relation = {
                "op": "addRelation",
                "subject": id_,
                "type": "knows",
                "object": id_,
                "source": id_,
                "quote": "q",
            }
            yield OPERATIONS, {"kb": kb, "operations": [block, relation]}
            yield OPERATIONS, {"kb": id_, "operations": [block]}

    def _searches(self) -> Iterator[Document]:
        for word in ["words of a source", "zq", *list(self.library.words.values())[::4]]:
            yield SEARCH, {"owner": self.gid(self.library.world.atlas), "words": word}


@asynccontextmanager
async def served(store: Store, folder: Path, clock: FakeClock, ids: int) -> AsyncIterator[httpx2.AsyncClient]:
    """Give a client of a service over an open store; its ids count from `ids`."""
    ports = Ports(
        clock=clock, ids=SequentialIds(ids), randomness=SeededRandomness(), store=store, blobs=open_blobs("memory:///")
    )
    made = build(Settings.model_validate({"data_dir": folder, "store": {"url": "memory:"}}), ports=ports)
    transport = httpx2.ASGITransport(app=made.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://rootward.test") as client:
        yield client


async def headers_of(asker: Asker, library: RandomLibrary) -> dict[str, str]:
    """Return the credential of a reader, and where an agent speaks."""
    headers = {"Authorization": f"Bearer {await library.world.token(asker.caller.principal)}"}
    if asker.conversation is not None:
        workspace = library.world.workspace
        headers["Rootward-Conversation"] = GlobalId(
            kind="Conversation", workspace=workspace, node=asker.conversation
        ).encode()
    return headers


async def test_twin_without_the_hidden_rows_answers_the_same_bytes(
    new_store: NewStore, clock: FakeClock, tmp_path: Path
) -> None:
    for seed in range(300, 300 + WORLDS):
        rng = random.Random(seed)
        store = await new_store()
        library = await random_library(deps_of(store, clock), clock, seed)
        await library.world.say(library.world.chat, "a secret about a kiln")
        await library.world.say(library.world.ops, "hello, the kiln is warm")
        credentials = {asker.name: await headers_of(asker, library) for asker in library.askers}
        truth = await Truth.of(store)
        guarded = sorted(id_ for id_ in truth.nodes if (spec := kind_of(id_)) and spec.guarded)
        for turn, asker in enumerate(library.askers, 1):
            hidden = await hidden_from(asker, truth, deps_of(store, clock))
            whole = await copy_of(truth.rows, await new_store())
            twin = await copy_of(truth.without(hidden), await new_store())
            seen, unseen = [i for i in guarded if i not in hidden], [i for i in guarded if i in hidden]
            named = [i for group in (seen, unseen) for i in rng.sample(group, min(NAMED // 2, len(group)))]
            script = Script(
                library=library,
                nodes=truth.nodes,
                named=named,
                hidden=hidden,
                explains=asker.name in ("cleo", "dan"),
                administers=asker.name == "dan",
            )
            async with AsyncExitStack() as stack:
                here = await stack.enter_async_context(served(whole, tmp_path, clock, turn * 10**9))
                there = await stack.enter_async_context(served(twin, tmp_path, clock, turn * 10**9))
                twins = Twins(here=here, there=there, headers=credentials[asker.name])
                await script.run(twins)
            assert twins.asked > 100
            assert "UNAUTHENTICATED" not in twins.codes
            assert "INTERNAL" not in twins.codes
