"""A small host: it provisions people, an agent and a bot, drives a session and two chats, and shows who sees what.

A host is an application that runs conversations and reports them. This one plays both sides of them itself. It needs a
running server, an admin's token and, to learn anything, a model:

    python examples/host_chat.py --token-file data/admin.token --model-url http://127.0.0.1:8080/v1 --model local

or `--profile light` for a model profile that is there already. Only Python's own library is used.
"""

from __future__ import annotations

import argparse
import json
import secrets
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

UNTIL = "2099-01-01T00:00:00Z"
CREATE_PERSON = "mutation($n: String!, $l: String) { it: createPerson(displayName: $n, localId: $l) { id } }"
CREATE_AGENT = """
mutation($n: String!, $l: String, $o: [ID!]) {
  it: createAgent(displayName: $n, localId: $l, shared: true, organizationIds: $o) { id }
}"""
TOKEN = """
mutation($p: ID!, $o: ID, $u: DateTime!) {
  it: createToken(principalId: $p, organizationId: $o, expiresAt: $u) { text }
}"""
CREATE_ORGANIZATION = """
mutation($n: String!, $l: String, $s: JSON) {
  it: createOrganization(displayName: $n, localId: $l, settings: $s) { id }
}"""
CREATE_SERVICE = "mutation($n: String!, $l: String) { it: createService(displayName: $n, localId: $l) { id } }"
CREATE_GROUP = """
mutation($n: String!, $l: String, $m: [ID!]) { it: createGroup(displayName: $n, localId: $l, memberIds: $m) { id } }"""
GRANT_HOST = "mutation($p: ID!, $o: ID!) { it: grantRight(principalId: $p, right: HOST, objectId: $o) }"
SET_MEMBERS = "mutation($o: ID!, $m: [ID!]!) { it: setMembers(id: $o, memberIds: $m) { added } }"
BEGIN = """
mutation($s: ID, $c: ID, $t: String!, $p: ID, $i: String, $k: String) {
  it: beginTurn(sessionId: $s, chatId: $c, turn: $t, operatorId: $p, input: $i, idempotencyKey: $k) {
    instructions input
  }
}"""
APPEND = """
mutation($s: ID, $c: ID, $item: ItemInput!, $k: String) {
  it: appendItem(sessionId: $s, chatId: $c, item: $item, idempotencyKey: $k) { id }
}"""
COMPLETE = """
mutation($s: ID, $c: ID, $t: String!, $m: String, $k: String) {
  it: completeTurn(sessionId: $s, chatId: $c, turn: $t, model: $m, idempotencyKey: $k) { state }
}"""
CONFIDE = "mutation($c: ID!, $t: String!, $x: String!) { it: confide(chatId: $c, turn: $t, text: $x) { answer } }"
SESSION_MEMORY = "query($s: ID!) { it: sessionMemory(sessionId: $s) { processed entries { key content } } }"
AGENT_MEMORY = "query($a: ID!) { it: agentMemory(agentId: $a) { entries { content sources { session item } } } }"
BOT_MEMORY = "query($b: ID!) { it: botMemory(botId: $b) { version entries { id content tags } } }"
BEHIND = "query($id: ID!) { it: provenance(id: $id) { nodes { ... on ChatItem { localId text } } } }"


class Refused(Exception):
    """The service answered with an error; `code` is the contract's own word."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code: str = error["extensions"]["code"]


@dataclass(frozen=True)
class Api:
    """The service as one principal sees it."""

    url: str
    token: str

    def __call__(self, query: str, **variables: Any) -> Any:
        """Run an operation whose field is called `it`, and return that."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(f"{self.url}/graphql", body, headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = json.load(response)
        if answer.get("errors"):
            raise Refused(answer["errors"][0])
        return answer["data"]["it"]

    def by(self, token: str) -> Api:
        """Return the same service for somebody else."""
        return Api(self.url, token)


@dataclass(frozen=True)
class House:
    """What was provisioned: ids, and the service as each of them sees it."""

    name: str
    org: str
    ids: dict[str, str]
    admin: Api
    host: Api
    ana: Api
    rolf: Api


def provision(admin: Api, name: str, profile: str) -> House:
    """Make an organization with a host, two people, a group of them, an agent and a bot."""
    settings = {"agentMemoryModel": profile, "botMemoryModel": profile}
    org = admin(CREATE_ORGANIZATION, n="Harbour bakery", l=name, s=settings)["id"]
    ids = {who: admin(CREATE_PERSON, n=who.title(), l=f"{name}-{who}")["id"] for who in ("ana", "rolf")}
    people = list(ids.values())
    ids["host"] = admin(CREATE_SERVICE, n="Chat program", l=f"{name}-host")["id"]
    admin(GRANT_HOST, p=ids["host"], o=org)
    admin(SET_MEMBERS, o=org, m=people)
    ids["group"] = admin(CREATE_GROUP, n="Kitchen", l=f"{name}-kitchen", m=people)["id"]
    for who in ("planner", "helper"):
        ids[who] = admin(CREATE_AGENT, n=who.title(), l=f"{name}-{who}", o=[org])["id"]
    of_org = {"host": None, "ana": org, "rolf": org}
    tokens = {who: admin(TOKEN, p=ids[who], o=place, u=UNTIL)["text"] for who, place in of_org.items()}
    apis = {who: admin.by(token) for who, token in tokens.items()}
    return House(name=name, org=org, ids=ids, admin=admin, **apis)


def hold_session(house: House, profile: str) -> str:
    """Report a session of Ana with the planner; return its id."""
    host, ana = house.host, house.ids["ana"]
    session = host(
        """mutation($a: ID!, $o: ID, $p: ID, $l: String, $m: String) {
          it: createSession(agentId: $a, organizationId: $o, personId: $p, localId: $l, model: $m) { id }
        }""",
        a=house.ids["planner"],
        o=house.org,
        p=ana,
        l=f"{house.name}-s1",
        m=profile,
    )["id"]
    # A key makes it safe to send a request again: it is done once.
    for _ in range(2):
        host(BEGIN, s=session, t="t1", p=ana, k="begin t1")
    said = {"type": "person_message", "personId": ana, "localId": "i-1", "turn": "t1"}
    host(APPEND, s=session, item={**said, "text": "We always proof the sourdough overnight."}, k="item i-1")
    answered = {"type": "agent_message", "localId": "i-2", "turn": "t1", "text": "I plan the ovens for the morning."}
    host(APPEND, s=session, item=answered, k="item i-2")
    host(COMPLETE, s=session, t="t1", m=profile, k="complete t1")
    return str(session)


def hold_chat(house: House, local: str, *, group: bool) -> str:
    """Make the chat of Ana with the helper, or that of the kitchen; return its id."""
    return str(
        house.host(
            """mutation($b: ID!, $o: ID!, $p: ID, $g: ID, $l: String) {
              it: createChat(botId: $b, organizationId: $o, personId: $p, groupId: $g, localId: $l) { id }
            }""",
            b=house.ids["helper"],
            o=house.org,
            p=None if group else house.ids["ana"],
            g=house.ids["group"] if group else None,
            l=f"{house.name}-{local}",
        )["id"]
    )


def talk(house: House, chat: str, turn: str, item: str, words: str) -> str:
    """Let Ana say something in a chat and the bot confide; return the input that the bot's model was given."""
    host = house.host
    given = host(BEGIN, c=chat, t=turn, p=house.ids["ana"], i=words)["input"]
    host(APPEND, c=chat, item={"type": "person_message", "text": words, "localId": item, "turn": turn})
    answer = host(CONFIDE, c=chat, t=turn, x="I was not sure what to answer.")["answer"]
    host(COMPLETE, c=chat, t=turn)
    print(f"  the bot confided and was answered: {answer}")
    return str(given)


def wait(look: Callable[[], Any], seconds: float) -> Any:
    """Look until there is something, at most so long; learning goes on in the background."""
    ends = time.monotonic() + seconds
    found = look()
    while not found and time.monotonic() < ends:
        time.sleep(0.2)
        found = look()
    return found


def contents(api: Api, house: House) -> list[str]:
    """Return what somebody sees of the helper's memory."""
    return [entry["content"] for entry in api(BOT_MEMORY, b=house.ids["helper"])["entries"]]


def show_session(house: House, session: str, seconds: float) -> None:
    """Print what the session and the agent remember, and for whom."""
    wait(lambda: house.ana(SESSION_MEMORY, s=session)["processed"], seconds)
    wait(lambda: house.ana(AGENT_MEMORY, a=house.ids["planner"])["entries"], seconds)
    print("Session memory")
    for entry in house.ana(SESSION_MEMORY, s=session)["entries"]:
        print(f"  Ana sees {entry['key']}: {entry['content']}")
    try:
        house.rolf(SESSION_MEMORY, s=session)
    except Refused as refused:
        print(f"  Rolf sees nothing of it: {refused.code}")
    print("Agent memory")
    for name, api in (("Ana", house.ana), ("Rolf", house.rolf)):
        for entry in api(AGENT_MEMORY, a=house.ids["planner"])["entries"]:
            print(f"  {name} sees: {entry['content']} ({len(entry['sources'])} of its sources)")


def show_bot(house: House, seconds: float) -> None:
    """Drive two chats and print what the bot learned, and for whom."""
    print("Bot memory")
    private, kitchen = hold_chat(house, "c1", group=False), hold_chat(house, "c2", group=True)
    talk(house, private, "t1", "c-1", "I cannot lift heavy trays this month.")
    wait(lambda: contents(house.ana, house), seconds)
    talk(house, kitchen, "t1", "k-1", "The oven is booked on Friday.")
    wait(lambda: len(contents(house.ana, house)) > 1, seconds)
    for name, api in (("Ana", house.ana), ("Rolf", house.rolf), ("The admin", house.admin)):
        try:
            seen = contents(api, house)
        except Refused as refused:
            seen = [refused.code]
        print(f"  {name} sees: {'; '.join(seen) or 'nothing'}")
    entries = house.ana(BOT_MEMORY, b=house.ids["helper"])["entries"]
    for node in house.ana(BEHIND, id=entries[0]["id"])["nodes"] if entries else []:
        if node:
            print(f"  behind the newest: {node['localId']}: {node['text']}")
    given = talk(house, private, "t2", "c-2", "Plan the trays for batch 12.")
    print(f"  the bot's model was given: {given}")


def main() -> None:
    """Run the example."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--token-file", type=Path, required=True, help="of an admin")
    parser.add_argument("--profile", default="light", help="name of the model profile that learns")
    parser.add_argument("--model-url", help="an address that speaks OpenAI's language; sets the profile")
    parser.add_argument("--model", default="local", help="what that address calls its model")
    parser.add_argument("--name", default=f"demo-{secrets.token_hex(3)}", help="begins every local id")
    parser.add_argument("--wait", type=float, default=60, metavar="SECONDS", help="for each thing to be learned")
    given = parser.parse_args()
    admin = Api(given.url, given.token_file.read_text(encoding="ascii").strip())
    if given.model_url:
        admin(
            """mutation($n: String!, $m: String!, $u: String) {
              it: setModelProfile(name: $n, provider: "openai", model: $m, baseUrl: $u) { version }
            }""",
            n=given.profile,
            m=given.model,
            u=given.model_url,
        )
    house = provision(admin, given.name, given.profile)
    show_session(house, hold_session(house, given.profile), given.wait)
    show_bot(house, given.wait)


if __name__ == "__main__":
    main()
