"""The keyring: a file outside the store with the epoch keys of every workspace, wrapped under the root key (AD-29).

Several processes may share it: a change is written whole, by one at a time, and every other one sees it with its next
look. A file that is mounted read only can be used, but not changed.
"""

from __future__ import annotations

import base64
import json
import math
import secrets
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from api.adapters.private_file import turn, write_whole
from api.adapters.root_key import KEY_BYTES, RootKey, root_id
from graph.model.errors import StoreKeyMissing
from graph.model.time import Clock, Millis
from graph.store.sealing import EpochKey, KeyState

FORMAT, VERSION = "rootward-keyring", 1
LOOK_EVERY_S = 0.5
"""So long a change by another process may stay unseen: looking costs as much as sealing."""
_NONCE_BYTES = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kept:
    """A key as the file has it."""

    state: KeyState
    wrapped: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ring:
    """What the file says; `root` is the id of the root key that wraps all of it, empty for no file."""

    root: str = ""
    workspaces: dict[str, tuple[_Kept, ...]] = field(default_factory=dict)

    def of(self, workspace: str) -> tuple[_Kept, ...]:
        return self.workspaces.get(workspace, ())

    def having(self, workspace: str, keys: Sequence[_Kept]) -> _Ring:
        return replace(self, workspaces={**self.workspaces, workspace: tuple(keys)})


class FileKeyring:
    """The keyring in a file; see `graph.store.sealing.Keyring`."""

    def __init__(self, file: Path, root: RootKey, clock: Clock, *, look_every_s: float = LOOK_EVERY_S) -> None:
        self._look_every_s = look_every_s
        self._looked_at = -math.inf
        self.file = file
        self.root = root
        self._clock = clock
        self._seen: tuple[int, int, int] | None = None
        self._ring = _Ring()
        self._unwrapped: dict[bytes, EpochKey] = {}

    def newest(self, workspace: str) -> EpochKey:
        sealing = _sealing(self._look().of(workspace)) or _sealing(self._look(at_once=True).of(workspace))
        if sealing is None:
            raise StoreKeyMissing(
                f"the workspace {workspace} has no key in {self.file}: start the server once, or restore the keyring",
                key_id="",
            )
        return self._unwrap(workspace, sealing)

    def find(self, workspace: str, key_id: str) -> EpochKey:
        found = _called(key_id, self._look().of(workspace)) or _called(key_id, self._look(at_once=True).of(workspace))
        if found is None:
            raise self._missing(key_id)
        return self._unwrap(workspace, found)

    def keys(self, workspace: str) -> Sequence[KeyState]:
        return tuple(kept.state for kept in self._look(at_once=True).of(workspace))

    def workspaces(self) -> Sequence[str]:
        """Return the workspaces that have keys."""
        return sorted(self._look().workspaces)

    @property
    def root_id(self) -> str:
        """The id of the root key that the file was written under; empty while there is no file."""
        return self._look().root

    def make(self, workspace: str) -> str:
        made = ""

        def change(ring: _Ring) -> _Ring:
            nonlocal made
            kept = ring.of(workspace)
            if kept and kept[-1].state.seals_since is None:
                made = kept[-1].state.id
                return ring
            new = self._new(workspace)
            made = new.state.id
            return ring.having(workspace, (*kept, new))

        self._change(change)
        return made

    def use(self, workspace: str, key_id: str) -> None:
        def change(ring: _Ring) -> _Ring:
            kept = ring.of(workspace)
            if all(one.state.id != key_id for one in kept):
                raise self._missing(key_id)
            return ring.having(workspace, [self._used(one) if one.state.id == key_id else one for one in kept])

        self._change(change)

    def drop(self, workspace: str, key_ids: Collection[str]) -> None:
        def change(ring: _Ring) -> _Ring:
            kept = ring.of(workspace)
            newest = _sealing(kept)
            return ring.having(workspace, [one for one in kept if one is newest or one.state.id not in key_ids])

        self._change(change)
        self._unwrapped.clear()

    def _used(self, kept: _Kept) -> _Kept:
        if kept.state.seals_since is not None:
            return kept
        return replace(kept, state=replace(kept.state, seals_since=self._clock.now()))

    def _new(self, workspace: str) -> _Kept:
        key_id, nonce = f"key-{secrets.token_hex(6)}", secrets.token_bytes(_NONCE_BYTES)
        key = secrets.token_bytes(KEY_BYTES)
        wrapped = nonce + AESGCM(self.root.read()).encrypt(nonce, key, _bound(workspace, key_id))
        return _Kept(state=KeyState(id=key_id, made_at=self._clock.now()), wrapped=wrapped)

    def _change(self, change: Callable[[_Ring], _Ring]) -> None:
        with turn(self.file):
            ring = self._look(at_once=True)
            if not ring.root:
                self.root.make()
                ring = replace(ring, root=root_id(self.root.read()))
            self._check_root(ring)
            changed = change(ring)
            if changed != self._ring:
                write_whole(self.file, _written(changed))
            self._look(at_once=True)

    def _look(self, *, at_once: bool = False) -> _Ring:
        """Return what the file says, read anew if it was changed since."""
        now = time.monotonic()
        if not at_once and now - self._looked_at < self._look_every_s:
            return self._ring
        self._looked_at = now
        seen = _signature(self.file)
        if seen != self._seen or seen is None:
            self._ring, self._seen = _read(self.file), seen
        return self._ring

    def _unwrap(self, workspace: str, kept: _Kept) -> EpochKey:
        known = self._unwrapped.get(kept.wrapped)
        if known is not None:
            return known
        self._check_root(self._ring)
        nonce, wrapped = kept.wrapped[:_NONCE_BYTES], kept.wrapped[_NONCE_BYTES:]
        try:
            key = AESGCM(self.root.read()).decrypt(nonce, wrapped, _bound(workspace, kept.state.id))
        except InvalidTag as error:
            message = f"the key {kept.state.id} in {self.file} is damaged: restore the keyring from its backup"
            raise StoreKeyMissing(message, key_id=kept.state.id) from error
        return self._unwrapped.setdefault(kept.wrapped, EpochKey(id=kept.state.id, key=key))

    def _check_root(self, ring: _Ring) -> None:
        found = root_id(self.root.read(ring.root or "root"))
        if found != ring.root:
            raise StoreKeyMissing(
                f"{self.file} is locked with the root key {ring.root}, and {self.root.shown} is {found}:"
                " set keys.root to the right one",
                key_id=ring.root,
            )

    def _missing(self, key_id: str) -> StoreKeyMissing:
        why = "is older than the store, or the key was retired" if self.file.exists() else "is not there"
        return StoreKeyMissing(
            f"the key {key_id} is needed, and the keyring {self.file} {why}: restore the keyring, or set keys.keyring",
            key_id=key_id,
        )


def _called(key_id: str, ring: Sequence[_Kept]) -> _Kept | None:
    return next((kept for kept in ring if kept.state.id == key_id), None)


def _sealing(ring: Sequence[_Kept]) -> _Kept | None:
    """Return the key that seals: the last one that ever began to."""
    return next((kept for kept in reversed(ring) if kept.state.seals_since is not None), None)


def _signature(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _bound(workspace: str, key_id: str) -> bytes:
    return json.dumps([FORMAT, VERSION, workspace, key_id]).encode()


def _written(ring: _Ring) -> bytes:
    tree = {
        "format": FORMAT,
        "version": VERSION,
        "root": ring.root,
        "workspaces": {name: [_line(kept) for kept in keys] for name, keys in sorted(ring.workspaces.items())},
    }
    return (json.dumps(tree, indent=1) + "\n").encode()


def _line(kept: _Kept) -> dict[str, Any]:
    state = kept.state
    wrapped = base64.b64encode(kept.wrapped).decode()
    return {"id": state.id, "made_at": state.made_at, "seals_since": state.seals_since, "wrapped": wrapped}


def _read(file: Path) -> _Ring:
    """Return what a file says; an empty ring if there is none.

    Raises:
        StoreKeyMissing: it cannot be read, or is no keyring.
    """
    try:
        tree = json.loads(file.read_bytes())
        if tree["format"] != FORMAT or tree["version"] != VERSION:
            raise ValueError
        rings = {str(name): tuple(map(_from_line, keys)) for name, keys in tree["workspaces"].items()}
        return _Ring(root=str(tree["root"]), workspaces=rings)
    except FileNotFoundError:
        return _Ring()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"the keyring {file} cannot be read: restore it from its backup, or set keys.keyring"
        raise StoreKeyMissing(message, key_id="") from error


def _from_line(line: dict[str, Any]) -> _Kept:
    since = line["seals_since"]
    state = KeyState(
        id=str(line["id"]),
        made_at=Millis(int(line["made_at"])),
        seals_since=None if since is None else Millis(int(since)),
    )
    return _Kept(state=state, wrapped=base64.b64decode(line["wrapped"], validate=True))
