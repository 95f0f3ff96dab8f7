"""The settings of this process, and what of them somebody chose."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from api.settings import Given, Settings, given, load


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """The settings in force and those that are not defaults, by name."""

    settings: Settings
    given: Mapping[str, Given]
    environ: Mapping[str, str] = field(repr=False)


def chosen(environ: Mapping[str, str] | None = None) -> Chosen:
    """Read the settings once.

    Raises:
        SettingsInvalid: an unknown name or a bad value.
    """
    variables = dict(os.environ if environ is None else environ)
    return Chosen(settings=load(variables), given=given(variables), environ=variables)
