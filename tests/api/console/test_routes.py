"""The console over HTTP: its page, its files, its policy, and what it must know before anybody is signed in."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import httpx2
import pytest

from api.console.routes import connect_origins, public_config
from api.settings import Settings, load
from graph.model.errors import SettingsInvalid

SCRIPT = b"console.log('rootward');\n" * 50
STYLE = b"body { margin: 0 }\n"
PAGE = """<!doctype html><meta property="csp-nonce" nonce="__CSP_NONCE__">
<script type="module" nonce="__CSP_NONCE__" src="/console/assets/index-4f2a.js"></script>
"""

OIDC = {
    "ROOTWARD_OIDC__ISSUER": "https://id.example/realms/tea",
    "ROOTWARD_OIDC__AUDIENCE": "rootward-console",
    "ROOTWARD_OIDC__CLIENT_ID": "rootward-console",
    "ROOTWARD_OIDC__MORE_ORIGINS": "https://token.example",
}


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A folder like one that the console is built into."""
    folder = tmp_path / "dist"
    assets = folder / "assets"
    assets.mkdir(parents=True)
    (folder / "index.html").write_text(PAGE)
    (folder / "icon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (assets / "index-4f2a.js").write_bytes(SCRIPT)
    (assets / "index-4f2a.js.gz").write_bytes(gzip.compress(SCRIPT))
    (assets / "index-4f2a.js.br").write_bytes(b"packed by brotli")
    (assets / "index-91bc.css").write_bytes(STYLE)
    (tmp_path / "secret.txt").write_text("not of the build")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return folder


@pytest.fixture
def settings(tmp_path: Path, build: Path) -> Settings:
    given = {"data_dir": tmp_path / "data", "store": {"url": "memory:"}, "console": {"folder": str(build)}}
    return Settings.model_validate(given)


def directives(response: httpx2.Response) -> dict[str, str]:
    policy = response.headers["content-security-policy"]
    return dict(part.split(" ", 1) for part in policy.split("; "))


@pytest.mark.parametrize("path", ["/console/", "/console/index.html", "/console/knowledge/p.1/audit", "/console/a.b/c"])
async def test_each_page_of_the_console_is_the_built_page(http: httpx2.AsyncClient, path: str) -> None:
    answer = await http.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert "index-4f2a.js" in answer.text


async def test_styles_of_a_page_carry_a_nonce_of_that_answer_alone(http: httpx2.AsyncClient) -> None:
    nonces = set()
    for _ in range(2):
        answer = await http.get("/console/")
        (nonce,) = set(re.findall(r'nonce="([^"]+)"', answer.text))
        assert directives(answer)["style-src"] == f"'self' 'nonce-{nonce}'"
        nonces.add(nonce)
    assert len(nonces) == 2
    assert all(len(nonce) >= 22 for nonce in nonces)  # 128 bits and more


async def test_nothing_is_loaded_from_elsewhere_and_no_script_stands_in_a_page(http: httpx2.AsyncClient) -> None:
    policy = directives(await http.get("/console/"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert policy["img-src"] == "'self' data: blob:"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert not any("unsafe" in sources or "*" in sources for sources in policy.values())


@pytest.mark.parametrize(
    "path", ["/console", "/console/", "/console/icon.svg", "/console/assets/none.js", "/console/config.json"]
)
async def test_every_answer_says_what_a_browser_may_do_with_it(http: httpx2.AsyncClient, path: str) -> None:
    answer = await http.get(path)
    assert directives(answer)["default-src"] == "'none'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert "camera=()" in answer.headers["permissions-policy"]


@pytest.mark.parametrize(
    ("accepted", "encoding", "body"),
    [
        ("gzip, deflate, br", "br", b"packed by brotli"),
        ("gzip", "gzip", gzip.compress(SCRIPT)),
        ("br;q=0, gzip;q=0.5", "gzip", gzip.compress(SCRIPT)),
        ("identity", None, SCRIPT),
    ],
)
async def test_a_file_is_sent_packed_to_who_takes_it_so(
    http: httpx2.AsyncClient, accepted: str, encoding: str | None, body: bytes
) -> None:
    async with http.stream("GET", "/console/assets/index-4f2a.js", headers={"Accept-Encoding": accepted}) as answer:
        raw = b"".join([part async for part in answer.aiter_raw()])
    assert (answer.status_code, answer.headers.get("content-encoding")) == (200, encoding)
    assert len(raw) == len(body)
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    ("path", "kind", "kept"),
    [
        ("assets/index-91bc.css", "text/css; charset=utf-8", "public, max-age=31536000, immutable"),
        ("icon.svg", "image/svg+xml", "no-cache"),
    ],
)
async def test_hashed_files_are_kept_for_good_and_others_are_checked(
    http: httpx2.AsyncClient, path: str, kind: str, kept: str
) -> None:
    answer = await http.get(f"/console/{path}")
    assert (answer.headers["content-type"], answer.headers["cache-control"]) == (kind, kept)
    again = await http.get(f"/console/{path}", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_an_unknown_file_of_a_build_is_not_the_page(http: httpx2.AsyncClient) -> None:
    answer = await http.get("/console/assets/index-0000.js")
    assert (answer.status_code, answer.headers["cache-control"]) == (404, "no-store")
    assert "<script" not in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "%2e%2e/secret.txt",
        "..%2fsecret.txt",
        "assets/..%2f..%2fsecret.txt",
        "assets%2f..%2f..%2fsecret.txt",
        "%2fetc%2fpasswd",
        "..%5csecret.txt",
        "link.txt",
        "assets/%00",
        "a" * 5_000,
    ],
)
async def test_nothing_outside_the_build_is_served(http: httpx2.AsyncClient, path: str) -> None:
    answer = await http.get(f"/console/{path}")
    assert answer.status_code in (200, 404)
    assert "not of the build" not in answer.text
    assert "root:" not in answer.text


@pytest.mark.parametrize("path", ["/console", "/"])
async def test_people_are_led_to_the_console(http: httpx2.AsyncClient, path: str) -> None:
    answer = await http.get(path, headers={"Accept": "text/html,*/*;q=0.8"})
    assert answer.status_code in (307, 308)
    assert answer.headers["location"] == "/console/"


async def test_programs_find_nothing_at_the_root(http: httpx2.AsyncClient) -> None:
    assert (await http.get("/", headers={"Accept": "application/json"})).status_code == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_the_console_is_only_read(http: httpx2.AsyncClient, method: str) -> None:
    assert (await http.request(method, "/console/")).status_code == 405


async def test_without_a_build_the_page_says_how_to_make_one(http: httpx2.AsyncClient, build: Path) -> None:
    (build / "index.html").unlink()
    answer = await http.get("/console/knowledge/p.1/audit")
    assert answer.status_code == 503
    assert "make console" in answer.text
    assert directives(answer)["script-src"] == "'self'"


async def test_a_new_build_is_there_without_a_restart(http: httpx2.AsyncClient, build: Path) -> None:
    (build / "assets" / "new-1a2b.js").write_text("1")
    (build / "index.html").write_text("<!doctype html>the new build")
    assert (await http.get("/console/assets/new-1a2b.js")).text == "1"
    assert "the new build" in (await http.get("/console/")).text


class TestSwitchedOff:
    """The console of a server that shall have none."""

    @pytest.fixture
    def settings(self, tmp_path: Path) -> Settings:
        given = {"data_dir": tmp_path, "store": {"url": "memory:"}, "console": {"enabled": False}}
        return Settings.model_validate(given)

    @pytest.mark.parametrize("path", ["/", "/console", "/console/", "/console/config.json"])
    async def test_there_is_nothing(self, http: httpx2.AsyncClient, path: str) -> None:
        assert (await http.get(path, headers={"Accept": "text/html"})).status_code == 404


async def test_what_the_console_must_know_is_told_to_everybody_and_holds_no_secret(http: httpx2.AsyncClient) -> None:
    answer = await http.get("/console/config.json")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json() == {
        "version": answer.json()["version"],
        "graphiql": False,
        "maxUploadBytes": 52_428_800,
        "oidc": None,
    }
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", answer.json()["version"])


class TestOidc:
    """A server whose people sign in at an issuer."""

    @pytest.fixture
    def settings(self, tmp_path: Path, build: Path) -> Settings:
        places = {"ROOTWARD_DATA_DIR": str(tmp_path), "ROOTWARD_CONSOLE__FOLDER": str(build)}
        return load({**OIDC, **places, "ROOTWARD_STORE__URL": "memory:"})

    async def test_the_console_is_told_where_to_sign_in(self, http: httpx2.AsyncClient) -> None:
        assert (await http.get("/console/config.json")).json()["oidc"] == {
            "issuer": "https://id.example/realms/tea",
            "clientId": "rootward-console",
            "scopes": "openid profile",
            "bearer": "id_token",
            "redirectPath": "/console/signed-in",
        }

    async def test_the_page_may_ask_the_issuer_and_nobody_else(self, http: httpx2.AsyncClient) -> None:
        policy = directives(await http.get("/console/"))
        assert policy["connect-src"] == "'self' https://id.example https://token.example"

    def test_without_a_client_the_console_offers_tokens_alone(self) -> None:
        without = load({name: value for name, value in OIDC.items() if "CLIENT_ID" not in name})
        assert public_config(without, 1)["oidc"] is None
        assert connect_origins(without.oidc) == ()

    @pytest.mark.parametrize("value", ["https://a.example/x", "a.example", "https://a.example; script-src *", "*"])
    def test_a_further_origin_is_an_origin(self, value: str) -> None:
        with pytest.raises(SettingsInvalid, match=r"oidc\.more_origins"):
            load({**OIDC, "ROOTWARD_OIDC__MORE_ORIGINS": value})
