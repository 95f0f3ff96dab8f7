"""`rootward models`: which embedding models run here, how one gets into the folder, whether it is whole."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from api.bootstrap import models_folder
from api.cli import exits, shown
from api.cli.given import Chosen
from dreaming.models.local_models import KNOWN, ModelState, fetch, names_in, state_of

_HEAD = ("Name", "State", "Numbers", "About")


def show_models(chosen: Chosen, out: Console) -> None:
    """Print the known models and those of the folder."""
    folder = models_folder(chosen.settings)
    out.print(shown.columns([_row(folder, name) for name in names_in(folder)], _HEAD))
    out.print(f"in {folder}")


def fetch_model(chosen: Chosen, name: str, origin: str, out: Console) -> None:
    """Put a known model into the folder and say how to use it."""
    place = fetch(models_folder(chosen.settings), name, origin)
    out.print(f"{name} is whole, in {place}")
    out.print("use it: rootward admin settings set embedding.provider local")
    out.print(f"        rootward admin settings set embedding.model {name}")


def check_models(chosen: Chosen, names: list[str], out: Console) -> int:
    """Print whether models are whole; return the exit code: 1 if one is not, or none is there."""
    folder = models_folder(chosen.settings)
    asked = names or [name for name in names_in(folder) if state_of(folder, name) is not ModelState.MISSING]
    states = {name: state_of(folder, name) for name in asked}
    for name, state in states.items():
        out.print(f"{name}: {state}")
    if not states:
        out.print(f"no model is in {folder}: `rootward models fetch` gets one")
    return exits.DONE if states and set(states.values()) == {ModelState.WHOLE} else exits.FOUND


def _row(folder: Path, name: str) -> tuple[str, str, str, str]:
    known = KNOWN.get(name)
    state = str(state_of(folder, name))
    return (name, state, str(known.size), known.about) if known else (name, state, "", "of your own")
