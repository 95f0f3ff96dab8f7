"""The root key, under which the keyring keeps its keys: from the environment, a file, or what a command prints (AD-29).

It is read once, when the first key is needed, and never written anywhere but into a new file of its own.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from api.adapters.private_file import write_whole
from graph.model.errors import SettingsInvalid, StoreKeyMissing

KEY_BYTES = 32
COMMAND_TIMEOUT_S = 60
_FORMS = "env:NAME, file:PATH or command:PROGRAM ARGUMENTS"


class RootKey:
    """The key that `keys.root` names."""

    def __init__(self, origin: str, environ: Mapping[str, str], *, makes: bool = True) -> None:
        """Take where the key comes from.

        Args:
            origin: ``env:NAME``, ``file:PATH`` or ``command:PROGRAM ARGUMENTS``.
            environ: the variables of the process.
            makes: a file that is not there is made when the first key is. Not where an operator named the file: a
                mount that is missing once must not lead to a key that is lost with the next one.

        Raises:
            SettingsInvalid: this names no such place.
        """
        self._kind, _, self._rest = origin.partition(":")
        if self._kind not in _READERS or not self._rest:
            raise SettingsInvalid(
                f"the setting keys.root cannot be taken; allowed: {_FORMS}", name="keys.root", allowed=_FORMS
            )
        self._environ = environ
        self._makes = makes
        self._key: bytes | None = None

    @property
    def file(self) -> Path | None:
        """Where it lies, if it is a file."""
        return Path(self._rest) if self._kind == "file" else None

    @property
    def shown(self) -> str:
        """Where it comes from, for people; of a command its program alone."""
        words = _words(self._rest) if self._kind == "command" else []
        return f"command:{words[0]} …" if words else f"{self._kind}:{self._rest}"

    def read(self, key_id: str = "root") -> bytes:
        """Return the 32 bytes.

        Args:
            key_id: how the key is called in the keyring, for the message.

        Raises:
            StoreKeyMissing: it is not there, or what is there is no key.
        """
        if self._key is None:
            text = _READERS[self._kind](self, key_id)
            self._key = _decoded(text, self._refusal(key_id, "is no key of 32 bytes in hex or base64"))
        return self._key

    def make(self) -> None:
        """Make the key if it is a file that may be made and is not there; never anew: what it locks would be lost.

        Raises:
            StoreUnavailable: the file cannot be written.
        """
        if self._makes and self.file is not None and not self.file.exists():
            write_whole(self.file, (secrets.token_hex(KEY_BYTES) + "\n").encode("ascii"))

    def from_environment(self, key_id: str) -> str:
        """Return what the variable says."""
        found = self._environ.get(self._rest, "")
        if not found:
            raise self._refusal(key_id, "is not set")
        return found

    def from_file(self, key_id: str) -> str:
        """Return what the file says."""
        try:
            return Path(self._rest).read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise self._refusal(key_id, "cannot be read") from error

    def from_command(self, key_id: str) -> str:
        """Return what the command prints, such as the plain key of a KMS; its words are not given to a shell."""
        try:
            done = subprocess.run(
                _words(self._rest), stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_TIMEOUT_S, check=True
            )
            return done.stdout.decode("ascii")
        except (OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
            raise self._refusal(key_id, "did not give a key") from error

    def _refusal(self, key_id: str, what: str) -> StoreKeyMissing:
        message = f"the root key {key_id} is needed, and {self.shown} {what}: bring it back, or set keys.root"
        return StoreKeyMissing(message, key_id=key_id)


_READERS = {"env": RootKey.from_environment, "file": RootKey.from_file, "command": RootKey.from_command}


def root_id(key: bytes) -> str:
    """Return how a root key is called: it tells two keys apart and nothing about them."""
    return f"root-{hashlib.sha256(b'rootward root key' + key).hexdigest()[:8]}"


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _decoded(text: str, refusal: StoreKeyMissing) -> bytes:
    """Return the key that is written in hex or base64."""
    written = text.strip()
    try:
        key = bytes.fromhex(written) if len(written) == 2 * KEY_BYTES else base64.b64decode(written, validate=True)
    except (ValueError, binascii.Error) as error:
        raise refusal from error
    if len(key) != KEY_BYTES:
        raise refusal
    return key
