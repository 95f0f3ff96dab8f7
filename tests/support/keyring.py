"""A keyring of the tests: one epoch key for every workspace, made of its name."""

from __future__ import annotations

import hashlib

from graph.model.errors import StoreKeyMissing
from graph.store.sealing import EpochKey


class FixedKeyring:
    """Always the same keys."""

    def newest(self, workspace: str) -> EpochKey:
        return EpochKey(id="e1", key=hashlib.sha256(workspace.encode()).digest())

    def find(self, workspace: str, key_id: str) -> EpochKey:
        if key_id != "e1":
            raise StoreKeyMissing("there is no such key", key_id=key_id)
        return self.newest(workspace)
