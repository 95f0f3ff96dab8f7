"""How much of a session's memory turns of a running server are told of, as its settings say."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tests.api.cli.support import Cli, serving


@pytest.mark.req("SM-83", "SM-86", "SM-87", "SM-88", "SM-89", "SM-90", "SM-92", "AM-42")
def test_a_turn_is_told_as_much_of_its_session_as_the_server_is_set_to(cli: Cli) -> None:
    with serving(cli, "--no-sample", ROOTWARD_SESSIONS__MEMORY__MAX_LENGTH="1000") as server:
        cli.ok("admin", "agent", "Atlas", "--id", "atlas")
        with httpx2.Client(base_url=server.address, headers={"Authorization": f"Bearer {cli.token('admin')}"}) as http:
            told = _Told(http)
            for key, length in (("oldest", 10), ("third", 3_000), ("second", 3_000), ("newest", 3_000)):
                told.remember(key, key[0] * length)
            told.teach("lesson", "l" * 3_000)
            preface, _, lesson = told.begin("t-1").partition("\n")
            assert preface.startswith("Memory of this agent")
            assert lesson == f"- lesson (procedure): {'l' * 3_000}", "that limit is another one"
            told.remember("short", "fits")
            assert told.begin("t-2").endswith("\n- short (fact): fits"), "what is older and fits too stays out"


class _Told:
    """A session of the admin with Atlas, in which he remembers, and what its turns are told."""

    def __init__(self, http: httpx2.Client) -> None:
        self.http = http
        found = self.ask("{ viewer { id } owners { edges { node { id } } } }")
        self.session = self.ask(
            'mutation($of: ID!, $me: ID!) { it: createSession(agentId: $of, personId: $me, localId: "s") { id } }',
            of=found["owners"]["edges"][0]["node"]["id"],
            me=found["viewer"]["id"],
        )["it"]["id"]

    def ask(self, query: str, **variables: str) -> Any:
        answer = self.http.post("/graphql", json={"query": query, "variables": variables}).json()
        assert "errors" not in answer, answer
        return answer["data"]

    def remember(self, key: str, content: str) -> None:
        seen = self.http.get("/v1/sessions/s").json()["session"]
        command = {"_tag": "Remember", "key": key, "content": content, "kind": "fact"}
        body = {"expected": seen["head"], "revision": seen["revision"], "command": command}
        assert self.http.post("/v1/sessions/s/memory", json=body).status_code == 200

    def teach(self, key: str, content: str) -> None:
        command = {"_tag": "Remember", "key": key, "content": content, "kind": "procedure"}
        assert self.http.post("/v1/agents/atlas/memory", json={"expected": 0, "command": command}).status_code == 200

    def begin(self, turn: str) -> str:
        """Begin a turn and return the memory that it is told of; the first part names the person."""
        query = "mutation($s: ID!, $t: String!) { it: beginTurn(sessionId: $s, turn: $t) { instructions } }"
        return str(self.ask(query, s=self.session, t=turn)["it"]["instructions"]).partition("\n\n")[2]


@pytest.mark.req("SM-91")
@pytest.mark.parametrize("value", ["-1", "1000.5"])
def test_a_limit_that_is_none_stops_the_start_with_its_name(cli: Cli, value: str) -> None:
    ran = cli.run("serve", "--no-sample", ROOTWARD_SESSIONS__MEMORY__MAX_LENGTH=value)
    assert ran.code == 2, ran
    assert "sessions.memory.max_length" in ran.err
    assert not cli.data_dir.exists()
