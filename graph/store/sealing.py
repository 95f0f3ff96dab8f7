"""Sealing: texts are encrypted before they become part of a node, and opened one by one, last of all, and counted.

Every value gets a data key of its own, used once with AES-256-GCM; the data key is wrapped by the newest epoch key of
its workspace, which the keyring keeps outside the store. Workspace, node, field and version of the content are
authenticated with the text; the same and the id of the epoch key with the wrapped data key, without which the text
cannot be opened. So no ciphertext is taken for another one, and a newer epoch key takes the place of an older one
without the text being opened (`Vault.rewrap`). Source: AD-29 to AD-31, BM-187;
docs/design.md#sealing.

An envelope: form, length of the key id and version of the content (`_HEAD`), key id, wrapped data key, text; the last
two with their nonce before and their tag behind.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from graph.model.errors import SealBroken
from graph.model.sealed import Sealed
from graph.model.time import Millis
from graph.ports import Randomness

FORM: Final = 1
_HEAD: Final = struct.Struct(">BBI")
_NONCE_BYTES: Final = 12
_KEY_BYTES: Final = 32
_TAG_BYTES: Final = 16
_WRAPPED_BYTES: Final = _NONCE_BYTES + _KEY_BYTES + _TAG_BYTES
_LEAST_BODY_BYTES: Final = _NONCE_BYTES + _TAG_BYTES
_DRAWN: Final = struct.Struct(f"{_NONCE_BYTES}s{_NONCE_BYTES}s{_KEY_BYTES}s")
"""The random bytes of one value: nonce of the wrapped key, nonce of the text, data key."""
_TEXT: Final = b"text"
_KEY: Final = b"key"


@dataclass(frozen=True, kw_only=True, slots=True)
class EpochKey:
    """A key of one workspace that wraps data keys: 32 bytes under an id of 1 to 64 ASCII characters."""

    id: str
    key: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyState:
    """What may be told of an epoch key.

    Attributes:
        seals_since: when it became the one that seals; None: it was made and never sealed yet.
    """

    id: str
    made_at: Millis
    seals_since: Millis | None = None


class Keyring(Protocol):
    """The epoch keys, kept outside the store under a root key; several processes may share it.

    All methods are quick and do not wait for a network; those that change it return once the change is on the disk.
    """

    def newest(self, workspace: str) -> EpochKey:
        """Return the key that seals now.

        Raises:
            StoreKeyMissing: the workspace has none, or it cannot be unwrapped.
        """
        ...

    def find(self, workspace: str, key_id: str) -> EpochKey:
        """Return a key by its id.

        Raises:
            StoreKeyMissing: it was retired, this is not the keyring of the store, or the root key is another one.
        """
        ...

    def keys(self, workspace: str) -> Sequence[KeyState]:
        """Return the keys of a workspace, oldest first; none if it has none."""
        ...

    def make(self, workspace: str) -> str:
        """Return the id of a key that never sealed yet: one that was made earlier, else a new one.

        Raises:
            StoreKeyMissing: the root key is missing, or not the one of this keyring.
            StoreUnavailable: the keyring cannot be written.
        """
        ...

    def use(self, workspace: str, key_id: str) -> None:
        """Let a key seal from now on; again, it changes nothing.

        Raises:
            StoreKeyMissing: there is no such key.
        """
        ...

    def drop(self, workspace: str, key_ids: Collection[str]) -> None:
        """Forget keys for good; ids that are not there are left out, and the one that seals stays."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a sealed text stands; all of it is authenticated (AD-31).

    Attributes:
        node: id of the node.
        field: name of the field.
        version: version of the content, 1 for one that never changes; below 2^32.
    """

    workspace: str
    node: str
    field: str
    version: int = 1


class Vault:
    """Seals and opens texts; `openings` counts what was opened (BM-61)."""

    def __init__(self, keyring: Keyring, randomness: Randomness) -> None:
        self.keyring = keyring
        self._randomness = randomness
        self.openings = 0

    def seal(self, place: Place, text: str) -> Sealed:
        """Return the text encrypted for its place.

        Raises:
            StoreKeyMissing: the workspace has no key.
        """
        return self.seal_all([(place, text)])[0]

    def seal_all(self, texts: Sequence[tuple[Place, str]]) -> list[Sealed]:
        """Return each text encrypted for its place, in order, under a data key of its own.

        What all of them need is fetched once: the key of the workspace, and one visit to the system for random bytes.

        Raises:
            StoreKeyMissing: a workspace has no key.
        """
        drawn = _DRAWN.iter_unpack(self._randomness.bytes(len(texts) * _DRAWN.size))
        keys = {space: _wrapping(self.keyring.newest(space)) for space in {place.workspace for place, _ in texts}}
        return [
            _sealed(place, text, keys[place.workspace], *each) for (place, text), each in zip(texts, drawn, strict=True)
        ]

    def open(self, place: Place, sealed: Sealed) -> str:
        """Return the text that was sealed for this place.

        Raises:
            SealBroken: it was changed, or sealed for another place.
            StoreKeyMissing: its key is not there.
        """
        parts = _parts(sealed)
        if parts.version != place.version:
            raise SealBroken
        text = _decrypted(AESGCM(self._data_key(place, parts)), parts.body, _TEXT + _bound(place))
        self.openings += 1
        return text.decode("utf-8")

    def rewrap(self, workspace: str, node: str, field: str, sealed: Sealed) -> Sealed:
        """Return the same sealed text under the newest key, the text itself unopened; as it is if it is there already.

        Raises:
            SealBroken: it was changed, or sealed for another place.
            StoreKeyMissing: its key is not there.
        """
        parts = _parts(sealed)
        newest = self.keyring.newest(workspace)
        if parts.key_id == newest.id:
            return sealed
        place = Place(workspace=workspace, node=node, field=field, version=parts.version)
        data_key, nonce = self._data_key(place, parts), self._randomness.bytes(_NONCE_BYTES)
        return Sealed(_wrapping(newest).head(_bound(place), parts.version, data_key, nonce) + parts.body)

    def _data_key(self, place: Place, parts: _Parts) -> bytes:
        epoch = self.keyring.find(place.workspace, parts.key_id)
        wrapping = _wrapping(epoch)
        return _decrypted(wrapping.cipher, parts.wrapped, _KEY + _bound(place) + wrapping.key_id)


def key_id_of(sealed: Sealed) -> str:
    """Return the id of the epoch key under which a text is sealed.

    Raises:
        SealBroken: it is no envelope.
    """
    return _parts(sealed).key_id


@dataclass(frozen=True, slots=True)
class _Parts:
    version: int
    key_id: str
    wrapped: bytes
    body: bytes


def _parts(sealed: Sealed) -> _Parts:
    data = sealed.data
    try:
        form, length, version = _HEAD.unpack_from(data)
        key_id = data[_HEAD.size : _HEAD.size + length].decode("ascii")
    except (struct.error, UnicodeDecodeError) as error:
        raise SealBroken from error
    start = _HEAD.size + length
    end = start + _WRAPPED_BYTES
    if form != FORM or len(data) < end + _LEAST_BODY_BYTES:
        raise SealBroken
    return _Parts(version, key_id, data[start:end], data[end:])


@dataclass(frozen=True, slots=True)
class _Wrapping:
    """An epoch key as it is used again and again."""

    cipher: AESGCM
    key_id: bytes

    def head(self, bound: bytes, version: int, data_key: bytes, nonce: bytes) -> bytes:
        """Return an envelope up to its text."""
        wrapped = self.cipher.encrypt(nonce, data_key, _KEY + bound + self.key_id)
        return b"".join((_HEAD.pack(FORM, len(self.key_id), version), self.key_id, nonce, wrapped))


@lru_cache(maxsize=256)
def _wrapping(epoch: EpochKey) -> _Wrapping:
    return _Wrapping(AESGCM(epoch.key), epoch.id.encode("ascii"))


def _sealed(
    place: Place, text: str, wrapping: _Wrapping, key_nonce: bytes, text_nonce: bytes, data_key: bytes
) -> Sealed:
    """Return an envelope."""
    bound = _bound(place)
    head = wrapping.head(bound, place.version, data_key, key_nonce)
    return Sealed(head + text_nonce + AESGCM(data_key).encrypt(text_nonce, text.encode("utf-8"), _TEXT + bound))


def _bound(place: Place) -> bytes:
    """Return what is authenticated: each name with its length before it, so that no two places look alike.

    What it is of (`_TEXT`, `_KEY`) stands before it, and for a wrapped key the id of its epoch key behind.
    """
    space, node, name = place.workspace, place.node, place.field
    where = f"/{len(space)}:{space}/{len(node)}:{node}/{len(name)}:{name}/{place.version}/"
    return where.encode("utf-8")


def _decrypted(cipher: AESGCM, data: bytes, bound: bytes) -> bytes:
    try:
        return cipher.decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], bound)
    except InvalidTag as error:
        raise SealBroken from error
