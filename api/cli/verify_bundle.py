#!/usr/bin/env python3
"""Check an evidence bundle with nothing but Python; it lies in the bundle beside `verify_offline.py`.

    python verify_bundle.py [FOLDER] [--published FILE]

Asserts that every file is the one the manifest names, that the words quoted stand in the sources and the sources
are the ones whose hashes were recorded, that the audit chains hold up to the heads that the manifest names, and that
what the statement says is what an audit record commits to. The exit code is 0 if all holds, 1 if something does not,
2 if the files cannot be read. Source: goal B4.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TYPED = ("message", "human_note", "text")
"""Kinds of sources whose hash is that of their text; others are hashed as the files they came in."""


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the JSON objects of a file."""
    return [dict(json.loads(line)) for line in path.read_text(encoding="utf-8").split("\n") if line]


def files(folder: Path, manifest: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the files themselves."""
    for name, digest in manifest["files"].items():
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
            yield f"{name} is not the file that the manifest names"


def sources(folder: Path) -> Iterator[str]:
    """Yield what is wrong with sources and quotes; a source that was erased has no words any more."""
    texts = {}
    for source in lines(folder / "sources.jsonl"):
        own = hashlib.sha256(source["text"].encode("utf-8", "surrogatepass")).hexdigest()
        if source["kind"] in TYPED and source["state"] != "erased" and own != source["content_hash"]:
            yield f"the text of {source['id']} is not the one whose hash was recorded"
        if source["state"] != "erased":
            texts[source["id"]] = unicodedata.normalize("NFC", source["text"].replace("\r\n", "\n"))
    for edge in json.loads((folder / "provenance.json").read_text(encoding="utf-8"))["edges"]:
        text = texts.get(edge["to"])
        if edge["type"] == "CITES" and text is not None and text[edge["start"] : edge["end"]] != edge["quote"]:
            yield f"a quote of {edge['from']} does not stand in {edge['to']}"


def statement(folder: Path) -> Iterator[str]:
    """Yield what is wrong with the statement: some audit record must have made it what it is."""
    shown = json.loads((folder / "statement.json").read_text(encoding="utf-8"))
    said = shown.get("text") if shown["class"] == "BlockVersion" else None
    images = [record.get(side) for record in lines(folder / "audit.jsonl") for side in ("before", "after")]
    if said is not None and not any(said in list(texts(image)) for image in images):
        yield "no audit record says what the statement says"


def texts(image: Any) -> Iterator[str]:
    """Yield every text of a block in an image."""
    if isinstance(image, dict):
        if isinstance(image.get("text"), str):
            yield image["text"]
        for value in image.values():
            yield from texts(value)


def heads(folder: Path, manifest: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the ends of the chains."""
    last = {record["pool"]: record for record in lines(folder / "audit.jsonl")}
    for pool, head in manifest["heads"].items():
        found = last.get(pool, {"seq": 0, "hash": ""})
        if (found["seq"], found["hash"]) != (head["seq"], head["hash"]):
            yield f"the chain of {pool} does not end at the head that the manifest names"


def chains(folder: Path, published: Path | None) -> int:
    """Follow the audit chains by the offline verifier and return its exit code."""
    script = Path(__file__).with_name("verify_offline.py")
    beside = ["--published", str(published)] if published else []
    return subprocess.run([sys.executable, str(script), str(folder), "--partial", *beside], check=False).returncode


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description="Check an evidence bundle without any service.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parent, help="the bundle")
    parser.add_argument("--published", type=Path, help="anchors that were kept outside the store")
    options = parser.parse_args(argv)
    folder: Path = options.folder
    try:
        manifest = json.loads((folder / "bundle.json").read_text(encoding="utf-8"))
        wrong = [*files(folder, manifest), *sources(folder), *statement(folder), *heads(folder, manifest)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        sys.stderr.write(f"cannot read the bundle: {type(error).__name__}: {error}\n")
        return 2
    code = chains(folder, options.published)
    sys.stdout.write("".join(f"WRONG: {one}\n" for one in wrong))
    sys.stdout.write("the bundle does NOT hold\n" if wrong or code else f"the bundle holds: {manifest['root']}\n")
    return 1 if wrong else code


if __name__ == "__main__":
    raise SystemExit(main())
