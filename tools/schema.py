"""Export schema.graphql from the code, or with ``--check`` tell whether it has drifted."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULE = "api.graphql.schema"


def exported() -> str | None:
    """Return the schema of the code in SDL, or None while there is no schema."""
    if importlib.util.find_spec(MODULE) is None:
        return None
    module = importlib.import_module(MODULE)
    text: str = module.build_schema().as_str()
    return text.rstrip("\n") + "\n"


def main(arguments: list[str]) -> int:
    """Write the file, or compare it; return 1 if it differs."""
    path = ROOT / "schema.graphql"
    text = exported()
    if text is None:
        print(f"schema.graphql: not exported, {MODULE} is not there yet")
        return 0
    if "--check" not in arguments:
        path.write_text(text, encoding="utf-8")
        return 0
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return 0
    print("schema.graphql differs from the code; run: make schema")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
