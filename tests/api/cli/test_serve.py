"""`rootward serve` as a process: first start, next starts, its end, and a second process on the same store."""

from __future__ import annotations

import json
import os
import pty
import signal
import socket
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from websockets.sync.client import connect

from api.cli.first_start import FirstStart, prepare
from api.cli.serve import MORE_PORTS, listen
from api.cli.welcome import welcome
from api.settings import ServerSettings, Settings, store_file
from graph.model.errors import SettingsInvalid
from tests.api.cli.support import LAST_LINE, PROGRAM, Cli, Server, environment, serving

SIGNED = ("admin", "mei", "jonas", "noor")


def mode(file: Path) -> int:
    return file.stat().st_mode & 0o777


@pytest.mark.req("AD-14", "AD-43")
def test_the_first_start_writes_tokens_that_only_the_owner_reads_and_names_their_files(sample: Server) -> None:
    for key in SIGNED:
        file = sample.cli.data_dir / f"{key}.token"
        assert mode(file) == 0o600
        assert str(file) in sample.said
        assert sample.cli.token(key).startswith("rw_")
    assert mode(sample.cli.data_dir / "root.key") == 0o600
    assert mode(sample.cli.data_dir / "rootward.db") == 0o600
    assert mode(sample.cli.data_dir) == 0o700


@pytest.mark.req("AD-14")
def test_what_is_no_terminal_does_not_get_the_tokens(sample: Server) -> None:
    assert "rw_" not in sample.said


@pytest.mark.req("AD-14")
def test_a_terminal_gets_the_tokens(cli: Cli) -> None:
    ours, theirs = pty.openpty()
    with serving_on(theirs, cli) as process:
        os.close(theirs)
        said = b""
        while LAST_LINE.encode() not in said:
            said += os.read(ours, 4_096)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    os.close(ours)
    assert cli.token("admin") in said.decode(), said


def serving_on(terminal: int, cli: Cli) -> subprocess.Popen[bytes]:
    variables = environment(cli.data_dir)
    return subprocess.Popen(
        [PROGRAM, "serve", "--no-sample"], env=variables, stdout=terminal, stderr=subprocess.DEVNULL
    )


@pytest.mark.req("AD-43", "AD-44", "AD-45")
def test_it_names_two_people_an_auditor_three_things_to_try_and_what_a_model_would_bring(sample: Server) -> None:
    for person in ("Mei Lin, curator", "Jonas Berg, curator", "Noor Haddad, auditor"):
        assert person in sample.said
    assert [word in sample.said for word in ("rootward ask", "rootward compare", "rootward withdraw")] == [True] * 3
    assert "rootward admin model light" in sample.said
    assert "learning from your own text" in sample.said


@pytest.mark.req("AD-43")
def test_every_start_of_make_run_prints_the_same_and_the_tokens_of_the_sample_stay_valid(cli: Cli) -> None:
    with serving(cli, "--tokens") as first:
        tokens = [cli.token(key) for key in SIGNED]
        assert first.end(signal.SIGTERM) == 0
    with serving(cli, "--tokens") as second:
        assert [cli.token(key) for key in SIGNED] == tokens
        assert [token in second.said for token in tokens] == [False, True, True, True], "the admin's on a terminal only"
        assert second.said.replace(second.address, "") == first.said.replace(first.address, "")
        answer = httpx2.post(
            f"{second.address}/graphql",
            json={"query": "{ viewer { displayName } }"},
            headers={"Authorization": f"Bearer {tokens[1]}"},
        )
        assert answer.json()["data"] == {"viewer": {"displayName": "Mei Lin"}}


@pytest.mark.req("AD-43")
async def test_a_first_start_that_is_cut_off_leaves_nothing_half_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings.model_validate({"data_dir": tmp_path / "data"})
    file = store_file(settings)
    assert file

    def cut_off(done: int, of: int) -> None:
        if done == of // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await prepare(settings, FirstStart(sample=True, progress=cut_off))
    assert not file.exists()
    told: list[int] = []
    assert await prepare(settings, FirstStart(sample=True, progress=lambda done, of: told.append(done)))
    assert file.exists()
    assert told
    assert not list(file.parent.glob(".first-start*"))
    assert not await prepare(settings, FirstStart(sample=True))


@pytest.mark.req("AD-38")
def test_sigterm_ends_it_with_zero_even_with_a_subscription_open(cli: Cli) -> None:
    with serving(cli, "--no-sample") as server:
        url = server.address.replace("http", "ws") + "/graphql"
        with connect(url, subprotocols=["graphql-transport-ws"], proxy=None) as socket_:  # type: ignore[list-item]
            payload = {"Authorization": f"Bearer {cli.token('admin')}"}
            socket_.send(json.dumps({"type": "connection_init", "payload": payload}))
            socket_.recv(timeout=30)
            assert server.end(signal.SIGTERM) == 0
        host, port = server.address.removeprefix("http://").split(":")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, int(port)))
    assert not (cli.data_dir / "server.json").exists()


def test_a_start_names_the_console_where_there_is_one(tmp_path: Path) -> None:
    place = tmp_path / "built"
    place.mkdir()
    settings = Settings.model_validate({"data_dir": tmp_path, "console": {"folder": str(place)}})
    address = "http://127.0.0.1:1"

    def said() -> str:
        return "\n".join(welcome(settings, address, environ={}).lines())

    assert "/console/" not in said()
    assert "Console: not built" in said()
    (place / "index.html").write_text("the page")
    assert f"Console: {address}/console/" in said()
    settings = settings.model_copy(update={"console": settings.console.model_copy(update={"enabled": False})})
    assert "Console" not in said()


@pytest.mark.parametrize(
    ("address", "first"),
    [
        ("http://127.0.0.1:8000", "Rootward is running at http://127.0.0.1:8000"),
        ("http://127.0.0.1:8001", "Rootward is running at http://127.0.0.1:8001 (port 8000 is taken)"),
    ],
)
def test_a_start_says_why_it_has_another_port(tmp_path: Path, address: str, first: str) -> None:
    settings = Settings.model_validate({"data_dir": tmp_path, "server": {"port": 8000}})
    assert welcome(settings, address, environ={}).lines()[0] == first


@pytest.mark.req("AD-39")
def test_a_second_process_names_the_owner_and_exits_three(sample: Server) -> None:
    for command in (("serve",), ("worker",), ("init",)):
        second = sample.cli.process(*command)
        assert second.code == 3, second
        assert str(sample.process.pid) in second.err
        assert sample.address in second.err
        assert "STORE_LOCKED" in second.err
        assert "Traceback" not in second.err
    assert httpx2.get(f"{sample.address}/health/ready").status_code == 200


@pytest.mark.req("AD-38", "AD-39")
def test_after_a_kill_the_next_start_finds_everything(cli: Cli) -> None:
    with serving(cli, "--no-sample") as server:
        cli.ok("admin", "agent", "Atlas", "--id", "atlas")
        server.end(signal.SIGKILL)
    with serving(cli, "--no-sample"):
        assert "atlas has" not in cli.run("admin", "agent", "Atlas", "--id", "atlas").out
        assert cli.run("admin", "agent", "Atlas", "--id", "atlas").code == 6


def test_a_port_that_nobody_asked_for_may_be_another_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        settings = Settings(server=ServerSettings(port=port))
        with pytest.raises(SettingsInvalid) as refused:
            listen(settings, port_given=True)
        assert refused.value.details["name"] == "server.port"
        with listen(settings, port_given=False) as other:
            assert port < other.getsockname()[1] <= port + MORE_PORTS


@pytest.mark.req("AD-38")
def test_what_asked_for_a_websocket_and_is_no_handshake_does_not_keep_it_from_ending(cli: Cli) -> None:
    lines = [
        "GET /graphql HTTP/1.1",
        "Host: x",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Content-Length: 1",
        "",
        "x",
    ]
    with serving(cli, "--no-sample") as server:
        address = urlsplit(server.address)
        with socket.create_connection((str(address.hostname), address.port or 0)) as connection:
            connection.sendall("\r\n".join(lines).encode())
            httpx2.get(f"{server.address}/health/live")
            assert server.end(signal.SIGTERM) == 0
