"""What lies in the data directory beside the store: tokens, the root key and what the sample is called.

All of it is for the owner's eyes: folders have mode 0700, files 0600, and a file is written whole or not at all.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.model.errors import BadInput, StoreUnavailable

ADMIN = "admin"
SAMPLE = "sample.json"
SERVER = "server.json"
_SUFFIX = ".token"


@dataclass(frozen=True, kw_only=True, slots=True)
class Signed:
    """Somebody whose token lies in a file.

    Attributes:
        key: how commands call him with `--as`.
        about: his name and role, for people to read.
    """

    key: str
    about: str
    file: Path

    @property
    def token(self) -> str:
        """The token in the file."""
        return read_token(self.file)


def token_file(data_dir: Path, key: str) -> Path:
    """Return where the token of somebody lies.

    Raises:
        BadInput: this can be no name of a file.
    """
    if not key or os.sep in key or key.startswith("."):
        raise BadInput("name somebody whose token lies in the data directory", field="as")
    return data_dir / f"{key}{_SUFFIX}"


def read_token(file: Path) -> str:
    """Return the token in a file.

    Raises:
        BadInput: there is no such file, or it cannot be read.
    """
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"there is no token in {file}: {_advice(file.stem)}", field="token") from error


def _advice(key: str) -> str:
    """Return what gives a token; the variable stands for the one who is asked for if nobody is named."""
    if key == ADMIN:
        return "copy it there, or give one by ROOTWARD_TOKEN"
    return f"rootward token create {shlex.quote(key)} --save makes one"


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner may read; what was there stays until the new one is whole.

    Raises:
        StoreUnavailable: it cannot be written.
    """
    partial = file.with_name(f".{file.name}.partial")
    try:
        with suppress(FileNotFoundError):
            partial.unlink()
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        partial.rename(file)
    except OSError as error:
        raise StoreUnavailable(f"{file} cannot be written: {error.strerror}") from error


def write_sample(
    data_dir: Path, ids: Mapping[str, str], people: Mapping[str, str], *, dreamed: Mapping[str, Any]
) -> None:
    """Keep what the sample is called (global ids by the names of the story), who got tokens, and what was dreamed."""
    text = json.dumps({"ids": ids, "people": people, "dreamed": dreamed}, ensure_ascii=False, indent=1)
    write_private(data_dir / SAMPLE, text + "\n")


def read_sample(data_dir: Path) -> Mapping[str, Any]:
    """Return what the sample is called; without a sample all parts are empty."""
    try:
        found = json.loads((data_dir / SAMPLE).read_text(encoding="utf-8"))
        return {part: dict(found.get(part, {})) for part in ("ids", "people", "dreamed")}
    except (OSError, ValueError, AttributeError, TypeError):
        return {"ids": {}, "people": {}, "dreamed": {}}


def signed(data_dir: Path) -> list[Signed]:
    """Return whose tokens lie in the data directory: the admin first, then those of the sample, then the others."""
    about = {ADMIN: "administrator", **read_sample(data_dir)["people"]}
    others = sorted(file.name.removesuffix(_SUFFIX) for file in data_dir.glob(f"[!.]*{_SUFFIX}"))
    keys = dict.fromkeys([*about, *others])
    found = [Signed(key=key, about=about.get(key, ""), file=token_file(data_dir, key)) for key in keys]
    return [one for one in found if one.file.is_file()]


def write_server(data_dir: Path, address: str, secret: str) -> None:
    """Say where the server of this data directory answers, and by which secret its operator is known."""
    write_private(data_dir / SERVER, json.dumps({"pid": os.getpid(), "address": address, "secret": secret}) + "\n")


def forget_server(data_dir: Path) -> None:
    """Take back what `write_server` said."""
    with suppress(OSError):
        (data_dir / SERVER).unlink()


def read_server(data_dir: Path) -> str:
    """Return the address of the last server of this data directory; empty if none is known."""
    return _server(data_dir).get("address", "")


def read_secret(data_dir: Path) -> str:
    """Return the secret of the running server.

    Raises:
        BadInput: it cannot be read: only the operator of the server's machine can.
    """
    found = _server(data_dir).get("secret", "")
    if not found:
        raise BadInput(f"run this where the server runs: {data_dir / SERVER} cannot be read", field="data_dir")
    return found


def _server(data_dir: Path) -> dict[str, str]:
    try:
        found = json.loads((data_dir / SERVER).read_text(encoding="utf-8"))
        return {"address": str(found["address"]), "secret": str(found["secret"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
