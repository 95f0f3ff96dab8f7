"""An identity provider on loopback that signs the browser in at once: authorization code with PKCE, for tests."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.support.oidc_issuer import Issuer

CODE = "code-of-one-use"


@dataclass(kw_only=True)
class Provider:
    """What the provider knows and was asked.

    Attributes:
        claims: of the person who signs in; the token's times among them.
        begun: the parameters of the last request to sign in.
        redeemed: the parameters of each request for a token.
    """

    issuer: Issuer
    claims: Callable[[], Mapping[str, Any]]
    begun: dict[str, str] = field(default_factory=dict)
    redeemed: list[dict[str, str]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return self.issuer.address

    def authorize(self, asked: dict[str, str]) -> str:
        """Return where the browser is sent."""
        self.begun = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': CODE, 'state': asked['state']})}"

    def redeem(self, asked: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Return the tokens for a code, if who asks began the sign-in."""
        digest = hashlib.sha256(asked.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        fits = challenge == self.begun["code_challenge"] and asked["redirect_uri"] == self.begun["redirect_uri"]
        once = not any(one["code"] == asked["code"] for one in self.redeemed)
        self.redeemed.append(asked)
        if not fits or not once or asked["code"] != CODE:
            return 400, {"error": "invalid_grant"}
        nonce = {"nonce": self.begun["nonce"]} if "nonce" in self.begun else {}
        claims = {"iss": self.address, "aud": asked["client_id"], **self.claims(), **nonce}
        tokens = {"id_token": self.issuer.sign(claims), "access_token": "opaque", "token_type": "Bearer"}
        return 200, {**tokens, "expires_in": 3_600}

    def document(self) -> dict[str, Any]:
        """Return the discovery document."""
        return {
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "jwks_uri": f"{self.address}/keys",
            "issuer": self.address,
        }


@contextmanager
def running_provider(claims: Callable[[], Mapping[str, Any]]) -> Iterator[Provider]:
    """Run a provider on a free port."""
    provider = Provider(issuer=Issuer(), claims=claims)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            place = urlsplit(self.path)
            if place.path == "/authorize":
                self.send_response(302)
                self.send_header("location", provider.authorize(_flat(place.query)))
                self.end_headers()
                return
            self._answer(*provider.issuer.answer(place.path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            self._answer(*provider.redeem(_flat(body)))

        def _answer(self, status: int, content: Any) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("access-control-allow-origin", "*")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    provider.issuer.address = f"http://127.0.0.1:{server.server_port}"
    provider.issuer.document = provider.document()
    provider.issuer.rotate()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _flat(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query).items()}
