"""A keyring of the tests: keys made of names, the first of each workspace there from the start."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

from graph.model.errors import StoreKeyMissing
from graph.model.time import Clock, Millis
from graph.store.sealing import EpochKey, KeyState, Vault
from tests.support.randomness import SeededRandomness


class FixedKeyring:
    """Keeps keys in memory; every workspace has `e1` without being asked."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock
        self._keys: dict[str, list[KeyState]] = {}
        self._made: dict[str, int] = {}

    def newest(self, workspace: str) -> EpochKey:
        sealing = [key.id for key in self.keys(workspace) if key.seals_since is not None]
        return self.find(workspace, sealing[-1])

    def find(self, workspace: str, key_id: str) -> EpochKey:
        if all(key.id != key_id for key in self.keys(workspace)):
            raise StoreKeyMissing("there is no such key", key_id=key_id)
        name = workspace if key_id == "e1" else f"{workspace}/{key_id}"
        return EpochKey(id=key_id, key=hashlib.sha256(name.encode()).digest())

    def keys(self, workspace: str) -> Sequence[KeyState]:
        first = KeyState(id="e1", made_at=Millis(0), seals_since=Millis(0))
        return tuple(self._keys.setdefault(workspace, [first]))

    def make(self, workspace: str) -> str:
        keys = self.keys(workspace)
        if keys[-1].seals_since is None:
            return keys[-1].id
        number = self._made[workspace] = self._made.get(workspace, 1) + 1
        self._keys[workspace].append(KeyState(id=f"e{number}", made_at=self._now()))
        return f"e{number}"

    def use(self, workspace: str, key_id: str) -> None:
        self.find(workspace, key_id)
        self._keys[workspace] = [
            KeyState(id=key.id, made_at=key.made_at, seals_since=self._now())
            if key.id == key_id and key.seals_since is None
            else key
            for key in self.keys(workspace)
        ]

    def drop(self, workspace: str, key_ids: Collection[str]) -> None:
        newest = self.newest(workspace).id
        self._keys[workspace] = [key for key in self.keys(workspace) if key.id == newest or key.id not in key_ids]

    def _now(self) -> Millis:
        return Millis(0) if self._clock is None else self._clock.now()


def fixed_vault() -> Vault:
    """Return a vault on keys that are the same in every process."""
    return Vault(FixedKeyring(), SeededRandomness())
