"""A small OIDC issuer on loopback with real keys, for tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, OKPKey, RSAKey

SigningKey = RSAKey | ECKey | OKPKey


@dataclass
class Issuer:
    """What the issuer publishes and signs with.

    Attributes:
        keys: private keys by the algorithm that they sign with.
        published: keys shown in its key set.
        asked: paths that were requested.
        away: answers 503 while true.
        document: overrides of the discovery document.
    """

    address: str = ""
    keys: dict[str, SigningKey] = field(default_factory=dict)
    published: list[SigningKey | OctKey] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    away: bool = False
    document: dict[str, Any] = field(default_factory=dict)

    def rotate(self, algorithm: str = "RS256") -> SigningKey:
        """Sign with a new key from now on and publish it beside the old ones."""
        kid = f"{algorithm}-{len(self.published)}"
        made: SigningKey
        if algorithm.startswith("ES"):
            made = ECKey.generate_key("P-256", {"kid": kid, "use": "sig"})
        elif algorithm == "EdDSA":
            made = OKPKey.generate_key("Ed25519", {"kid": kid, "use": "sig"})
        else:
            made = _rsa_key(kid)
        self.keys[algorithm] = made
        self.published.append(made)
        return made

    def sign(self, claims: Mapping[str, Any], algorithm: str = "RS256", **header: Any) -> str:
        """Return a token with these claims."""
        key = self.keys[algorithm]
        whole = {"alg": algorithm, "kid": key.kid, **header}
        return jwt.encode(whole, dict(claims), key, algorithms=[algorithm])

    def answer(self, path: str) -> tuple[int, Any]:
        """Return status and body for a path."""
        self.asked.append(path)
        if self.away:
            return 503, {}
        if path == "/.well-known/openid-configuration":
            return 200, {"issuer": self.address, "jwks_uri": f"{self.address}/keys", **self.document}
        if path == "/keys":
            return 200, KeySet(list(self.published)).as_dict(private=False)
        return 404, {}


@cache
def _rsa_key(kid: str) -> RSAKey:
    """Return a key that is made once a run, since making one takes long."""
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig"})


@contextmanager
def running_issuer() -> Iterator[Issuer]:
    """Run an issuer on a free port."""
    issuer = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = issuer.answer(self.path)
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    issuer.address = f"http://127.0.0.1:{server.server_port}"
    issuer.rotate()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
