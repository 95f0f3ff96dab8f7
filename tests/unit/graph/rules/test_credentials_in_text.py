"""Telling credentials from words about them."""

from __future__ import annotations

import pytest

from graph.rules.credentials_in_text import holds_credential

SECRETS = [
    "-----BEGIN PRIVATE KEY-----\nMIIEvQ",
    "key: -----BEGIN OPENSSH PRIVATE KEY-----",
    "-----BEGIN EC PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----",
    "Use https://ana:hunter2@git.example/repo.git for it.",
    "postgres://svc:p%40ss@db:5432/main",
    "redis://:s3cret@cache:6379",
    "Authorization: Bearer abc123",
    "curl -H 'Authorization: bearer tok_9f8e'",
    "Bearer abc.def.ghi",
    'token is Bearer "dGhpc2lzYXRva2Vu=="',
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "rw_abc123_0123456789abcdef0123",
]
WORDS = [
    "Send a bearer token with each request.",
    "Bearer tokens are kept in the vault.",
    "The bearer of this ticket may enter.",
    "See https://git.example/repo.git and mail ana@example.org at 10:30.",
    "http://example.org:8080/path@2x.png",
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    "Deploy with https://example.org/a:b@c",
    "The private key is in the safe.",
]


@pytest.mark.req("SM-108")
@pytest.mark.parametrize("text", SECRETS)
def test_credential_is_found(text: str) -> None:
    assert holds_credential(text)
    assert holds_credential(f"First a line.\n{text}\nThen another.")


@pytest.mark.req("SM-108")
@pytest.mark.parametrize("text", WORDS)
def test_words_about_credentials_pass(text: str) -> None:
    assert not holds_credential(text)
