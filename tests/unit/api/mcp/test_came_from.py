"""Where requests may come from: the name a server is asked for by, and the page that asks."""

from __future__ import annotations

import pytest

from api.mcp.came_from import may_come

CONSOLE = "https://know.example.org"


def came(host: str, origin: str = "", *, listens: str = "127.0.0.1", allowed: tuple[str, ...] = ()) -> bool:
    return may_come(listens=listens, host=host, origin=origin, allowed_origins=allowed)


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:8000", "[::1]:8000"])
def test_names_of_this_machine_are_taken(host: str) -> None:
    assert came(host)


@pytest.mark.parametrize(
    "host", ["evil.test", "localhost.evil.test", "127.0.0.1.evil.test:8000", "", "[", "evil:80:80"]
)
def test_a_name_that_was_made_to_point_here_is_not(host: str) -> None:
    assert not came(host)
    assert not came(host, f"http://{host}")


def test_a_server_that_others_reach_is_asked_by_any_name() -> None:
    assert came("know.example.org", listens="0.0.0.0")
    assert not came("know.example.org", "https://evil.test", listens="0.0.0.0")


def test_pages_of_the_server_itself_and_of_allowed_origins_may_ask() -> None:
    assert came("localhost:8000", "http://localhost:8000")
    assert not came("localhost:8000", "http://localhost:9000")
    assert not came("localhost:8000", "null")
    assert not came("localhost:8000", CONSOLE)
    assert came("localhost:8000", CONSOLE, allowed=(CONSOLE,))


def test_a_proxy_that_keeps_the_name_is_let_in_by_an_allowed_origin() -> None:
    assert not came("know.example.org")
    assert came("know.example.org", allowed=(CONSOLE,))
