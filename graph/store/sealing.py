"""Sealing: texts are encrypted before they become part of a node, and opened one by one, last of all, and counted.

Every value gets a data key of its own, used once with AES-256-GCM; the data key is wrapped by the newest epoch key of
its workspace, which the keyring keeps outside the store. Workspace, node, field, version of the content and key id are
authenticated with both, so that no ciphertext is taken for another one. Source: AD-29, AD-31, BM-187, design section 3.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Final, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from graph.model.errors import SealBroken, StoreKeyMissing
from graph.model.sealed import Sealed
from graph.ports import Randomness

FORM: Final = 1
_HEAD: Final = struct.Struct(">BB")
_NONCE_BYTES: Final = 12
_KEY_BYTES: Final = 32
_WRAPPED_BYTES: Final = _NONCE_BYTES + _KEY_BYTES + 16


@dataclass(frozen=True, kw_only=True, slots=True)
class EpochKey:
    """A key of one workspace that wraps data keys: 32 bytes under an id of 1 to 64 ASCII characters."""

    id: str
    key: bytes = field(repr=False)


class Keyring(Protocol):
    """The epoch keys, kept outside the store under a root key."""

    def newest(self, workspace: str) -> EpochKey:
        """Return the key that seals now.

        Raises:
            StoreKeyMissing: the workspace has none.
        """
        ...

    def find(self, workspace: str, key_id: str) -> EpochKey:
        """Return a key by its id.

        Raises:
            StoreKeyMissing: it was retired, or this is not the keyring of the store.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a sealed text stands; all of it is authenticated (AD-31).

    Attributes:
        node: id of the node.
        field: name of the field.
        version: version of the content, 1 for one that never changes.
    """

    workspace: str
    node: str
    field: str
    version: int = 1


class Vault:
    """Seals and opens texts; `openings` counts what was opened (BM-61)."""

    def __init__(self, keyring: Keyring, randomness: Randomness) -> None:
        self._keyring = keyring
        self._randomness = randomness
        self.openings = 0

    def seal(self, place: Place, text: str) -> Sealed:
        """Return the text encrypted for its place.

        Raises:
            StoreKeyMissing: the workspace has no key.
        """
        epoch = self._keyring.newest(place.workspace)
        data_key = self._randomness.bytes(_KEY_BYTES)
        wrapped = self._encrypt(epoch.key, data_key, _bound(place, epoch.id, b"key"))
        body = self._encrypt(data_key, text.encode("utf-8"), _bound(place, epoch.id, b"text"))
        key_id = epoch.id.encode("ascii")
        return Sealed(_HEAD.pack(FORM, len(key_id)) + key_id + wrapped + body)

    def open(self, place: Place, sealed: Sealed) -> str:
        """Return the text that was sealed for this place.

        Raises:
            SealBroken: it was changed, or sealed for another place.
            StoreKeyMissing: its key is not there.
        """
        key_id, wrapped, body = _parts(sealed)
        epoch = self._keyring.find(place.workspace, key_id)
        data_key = _decrypt(epoch.key, wrapped, _bound(place, key_id, b"key"))
        text = _decrypt(data_key, body, _bound(place, key_id, b"text"))
        self.openings += 1
        return text.decode("utf-8")

    def _encrypt(self, key: bytes, plain: bytes, bound: bytes) -> bytes:
        nonce = self._randomness.bytes(_NONCE_BYTES)
        return nonce + AESGCM(key).encrypt(nonce, plain, bound)


class NoKeyring:
    """The keyring of a process that was given none: nothing can be sealed or opened."""

    def newest(self, workspace: str) -> EpochKey:
        """Refuse."""
        raise StoreKeyMissing("no root key is set: set keys.root", key_id="")

    def find(self, workspace: str, key_id: str) -> EpochKey:
        """Refuse."""
        raise StoreKeyMissing("no root key is set: set keys.root", key_id=key_id)


class _NoRandomness:
    def bytes(self, count: int) -> bytes:
        raise StoreKeyMissing("no root key is set: set keys.root", key_id="")


def no_vault() -> Vault:
    """Return the vault of a process without keys; it refuses to seal and to open."""
    return Vault(NoKeyring(), _NoRandomness())


def key_id_of(sealed: Sealed) -> str:
    """Return the id of the epoch key under which a text is sealed.

    Raises:
        SealBroken: it is no envelope.
    """
    return _parts(sealed)[0]


def _bound(place: Place, key_id: str, part: bytes) -> bytes:
    named = (place.workspace, place.node, place.field, str(place.version), key_id)
    return part + b"\0" + b"".join(struct.pack(">I", len(raw)) + raw for raw in (n.encode("utf-8") for n in named))


def _parts(sealed: Sealed) -> tuple[str, bytes, bytes]:
    data = sealed.data
    try:
        form, length = _HEAD.unpack_from(data)
        key_id = data[_HEAD.size : _HEAD.size + length].decode("ascii")
    except (struct.error, UnicodeDecodeError) as error:
        raise SealBroken from error
    start = _HEAD.size + length
    if form != FORM or len(data) < start + _WRAPPED_BYTES + _NONCE_BYTES:
        raise SealBroken
    return key_id, data[start : start + _WRAPPED_BYTES], data[start + _WRAPPED_BYTES :]


def _decrypt(key: bytes, data: bytes, bound: bytes) -> bytes:
    try:
        return AESGCM(key).decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], bound)
    except InvalidTag as error:
        raise SealBroken from error
