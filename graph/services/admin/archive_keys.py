"""Which keys an archive needs: it holds sealed texts as they are, and no key (AD-41)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graph.model.errors import ArchiveInvalid, SealBroken
from graph.model.nodes.people import Workspace
from graph.model.schema import kinds
from graph.model.sealed import Sealed
from graph.services.admin.archive_rows import NODES
from graph.store.sealing import Keyring, key_id_of


def check_keys(lines: Iterable[Mapping[str, Any]], keyring: Keyring) -> None:
    """Make sure that every key that the nodes of an archive need is in a keyring.

    Raises:
        StoreKeyMissing: one is not; details: `key_id`.
        ArchiveInvalid: a sealed text is none.
    """
    found: set[tuple[str, str]] = set()
    for line in lines:
        for needed in _needed(line):
            if needed not in found:
                keyring.find(*needed)
                found.add(needed)


def _needed(line: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Give workspace and id of the keys that a node needs."""
    workspace = str(line.get("workspace", ""))
    if line.get("class") == Workspace.__name__ and line.get("key_id"):
        yield workspace, str(line["key_id"])
    spec = kinds().get(str(line.get("class")))
    for name in (field.name for field in spec.fields if field.sealed) if spec else ():
        if line.get(name) is not None:
            yield workspace, _key_id(line[name])


def _key_id(value: Any) -> str:
    try:
        return key_id_of(Sealed(base64.b64decode(value, validate=True)))
    except (SealBroken, TypeError, binascii.Error) as error:
        raise ArchiveInvalid("a sealed text of the archive is none: use another copy", part=f"{NODES}.jsonl") from error
