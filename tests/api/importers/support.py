"""Reads a fixture in one call."""

from datetime import tzinfo
from pathlib import Path

from api.importers.model import ImportedMessage, ImportTally
from api.importers.read import detect_form, read_export

FIXTURES = Path(__file__).parents[2] / "fixtures" / "importers"


def load(path: Path, tally: ImportTally | None = None, timezone: tzinfo | None = None) -> list[ImportedMessage]:
    """Read an export with the form that its content shows."""
    tally = tally if tally is not None else ImportTally()
    return list(read_export(path, form=detect_form(path), timezone=timezone, tally=tally))
