"""The page about learning of bots says what must be read before confessions are shown."""

from __future__ import annotations

import pytest

from api.rest import bot_reference, chats
from tests.docs.pages import ROOT

PAGE = "docs/how-to/bot-learning.md"


@pytest.mark.req("BM-172")
def test_the_documentation_of_the_route_points_to_guidance_on_showing_confessions() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    (guidance,) = [part for part in text.split("\n## ") if part.startswith("Showing confessions")]
    assert "/v1/chats/{chatId}/confessions" in guidance
    assert "before you show them to anybody else" in " ".join(guidance.split())
    (operation,) = bot_reference.REFERENCE["/v1/chats/{chatId}/confessions"].values()
    assert PAGE in operation.summary
    assert PAGE in (chats.__doc__ or "")
