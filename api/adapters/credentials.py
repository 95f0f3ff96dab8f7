"""Secrets by the name that a model profile gives, such as ``env:OPENAI_API_KEY``. The secret itself is never stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping

_ENVIRONMENT = "env:"


def from_environment(environ: Mapping[str, str]) -> Callable[[str], str | None]:
    """Return what looks secrets up in an environment; what it does not know is None.

    >>> from_environment({"TEA_API_KEY": "k"})("env:TEA_API_KEY")
    'k'
    """

    def look_up(credential: str) -> str | None:
        if not credential.startswith(_ENVIRONMENT):
            return None
        return environ.get(credential.removeprefix(_ENVIRONMENT)) or None

    return look_up
