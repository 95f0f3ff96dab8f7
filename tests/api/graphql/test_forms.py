"""Uploads whose texts are not in UTF-8, or say that they are not: as bodies of JSON, they are read in UTF-8 alone."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

import httpx2
import pytest

from graph.model.ids import NodeId
from tests.api.clients import GraphQLClient, answer_of
from tests.support.world import TeamWorld

QUERY = """mutation($o: ID!, $k: ID!, $f: Upload!, $t: String) {
  submitFile(ownerId: $o, kbId: $k, file: $f, title: $t) { title }
}"""


class Form:
    """An upload of a note, of which every part can be given in another encoding."""

    def __init__(self, client: GraphQLClient, owner: str, base: str) -> None:
        self.client = client
        self.variables: dict[str, str | None] = {"o": owner, "k": base, "f": None, "t": "Café"}

    def title(self, title: str | None) -> None:
        self.variables["t"] = title

    async def sent(
        self, *, encoding: str = "utf-8", said: str = "", name: bytes = b"note.txt", boundary: str = "edge"
    ) -> httpx2.Response:
        """Send it, with this after the boundary in its header."""
        operations = json.dumps({"query": QUERY, "variables": self.variables}, ensure_ascii=False)
        parts = {
            b'name="operations"': operations.encode(encoding),
            b'name="map"': b'{"0": ["variables.f"]}',
            b'name="0"; filename="' + name + b'"': b"Tea is stored dry: " + name,
        }
        body = b"".join(
            b"--edge\r\nContent-Disposition: form-data; " + head + b"\r\n\r\n" + data + b"\r\n"
            for head, data in parts.items()
        )
        kind = f"multipart/form-data; boundary={boundary}{said}"
        headers = {**self.client._headers(), "Rootward-Upload": "1", "Content-Type": kind}
        sent = {name.encode(): value.encode() for name, value in headers.items()}
        return await self.client.http.post("/graphql", content=body + b"--edge--\r\n", headers=sent)


@pytest.fixture
async def form(world: TeamWorld, ana: GraphQLClient, gid: Callable[[NodeId], str]) -> Form:
    conversation = await world.open(world.chat)
    return Form(ana, gid(world.atlas), gid(NodeId(str(conversation.pool))))


async def title_of(sending: Awaitable[httpx2.Response]) -> str:
    answer = answer_of(await sending)
    assert not answer.errors, answer.errors
    return str(answer.data["submitFile"]["title"])


@pytest.mark.req("FM-11", "KN-121")
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-32"])
@pytest.mark.parametrize("said", ["", "; charset={}"])
async def test_texts_in_another_encoding_are_refused(form: Form, encoding: str, said: str) -> None:
    response = await form.sent(encoding=encoding, said=said.format(encoding))
    assert (response.status_code, answer_of(response).codes) == (400, ["BAD_INPUT"])


@pytest.mark.req("FM-11", "KN-121")
@pytest.mark.parametrize("said", ["", "utf-8", "latin-1", "raw_unicode_escape", "undefined", "zlib", "no-such"])
async def test_texts_are_in_utf_8_whatever_their_header_says(form: Form, said: str) -> None:
    assert await title_of(form.sent(said=f"; charset={said}" if said else "")) == "Café"


@pytest.mark.req("FM-11", "KN-121")
async def test_so_is_the_name_of_a_file(form: Form) -> None:
    form.title(None)
    assert await title_of(form.sent(name="茶.txt".encode())) == "茶.txt"
    assert await title_of(form.sent(name=b"a\\ud800.txt", said="; charset=raw_unicode_escape")) == "a\\ud800.txt"
    assert answer_of(await form.sent(name="é.txt".encode("latin-1"))).codes == ["BAD_INPUT"]


@pytest.mark.parametrize("boundary", ["", '"ed\\"ge"', "another", "édge"])
async def test_a_boundary_that_is_none_of_the_form_is_refused(form: Form, boundary: str) -> None:
    response = await form.sent(boundary=boundary)
    assert (response.status_code, answer_of(response).codes) == (400, ["BAD_INPUT"])
