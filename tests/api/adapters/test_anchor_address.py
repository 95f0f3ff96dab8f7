"""Anchors that are posted to an address outside the store."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import httpx2
import pytest

from api.adapters.anchor_address import AnchorAddress
from api.adapters.anchor_file import AnchorFile
from api.cli.background import anchor_sink
from api.settings import Settings
from graph.model.errors import StoreUnavailable
from graph.model.ids import WorkspaceId
from graph.model.time import Millis
from graph.rules.audit_anchors import SealedAnchor, anchor
from graph.rules.audit_chain import Head

URL = "https://keeper.test/anchors"


def made() -> SealedAnchor:
    heads = {"knb_1": Head(seq=3, hash="a" * 64)}
    return anchor(heads, Head(seq=0, hash=""), workspace=WorkspaceId("w"), recorded_at=Millis(1_000))


@pytest.mark.req("AD-27")
async def test_an_anchor_is_posted_in_the_form_that_the_verifier_reads() -> None:
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(204)

    one = made()
    await AnchorAddress(URL, transport=httpx2.MockTransport(answer)).publish(one)
    (request,) = seen
    assert (request.method, str(request.url)) == ("POST", URL)
    assert json.loads(request.content) == one.to_export()
    assert request.headers["idempotency-key"] == one.hash


@pytest.mark.req("AD-27")
@pytest.mark.parametrize("answers", [httpx2.Response(500), httpx2.Response(302), httpx2.ConnectError("a secret")])
async def test_an_anchor_that_was_not_taken_is_no_kept_one(answers: httpx2.Response | Exception) -> None:
    def answer(_: httpx2.Request) -> httpx2.Response:
        if isinstance(answers, Exception):
            raise answers
        return answers

    with pytest.raises(StoreUnavailable) as refused:
        await AnchorAddress(URL, transport=httpx2.MockTransport(answer)).publish(made())
    assert "secret" not in refused.value.message


@pytest.mark.req("AD-27")
async def test_an_answer_that_never_ends_holds_nothing_up() -> None:
    class Endless(httpx2.AsyncByteStream):
        def __aiter__(self) -> AsyncIterator[bytes]:
            raise AssertionError("the status is enough")

    answers = httpx2.MockTransport(lambda _: httpx2.Response(200, stream=Endless()))
    await AnchorAddress(URL, transport=answers).publish(made())


@pytest.mark.req("AD-27")
@pytest.mark.parametrize(("place", "kind"), [(URL, AnchorAddress), ("/x/anchors.jsonl", AnchorFile), ("", type(None))])
def test_the_settings_name_an_address_or_a_file(place: str, kind: type) -> None:
    assert isinstance(anchor_sink(Settings.model_validate({"audit": {"anchor_to": place}})), kind)
