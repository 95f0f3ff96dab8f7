#!/usr/bin/env python3
"""Check exported audit chains with nothing but Python: no service, no store, no package of ours.

    python verify_offline.py EXPORT [--published FILE] [--partial]

EXPORT is a file of audit records, one JSON object a line (each pool's records in their order), or a folder with
`audit.jsonl`, perhaps `administration.jsonl` and `anchors.jsonl`. `--published` names anchors kept outside the store:
only they show that a tail was cut or a chain rewritten together with its anchors. The exit code: 0 if all holds,
1 if a chain is broken, 2 if the files cannot be read. Source: KN-85, AD-27, AD-28.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

ERASED, WITHHELD = "[erased]", "[withheld]"
WRITE = json.JSONEncoder(ensure_ascii=False).encode
OFFICE = "wsp_"  # the chain of administration is named by the node of its workspace
IMAGES = ("before", "after", "reason")  # records of the first form have no commitment to their reason
Line = dict[str, Any]
Lines = Iterable[Line]
Known = dict[int, set[str]]


class Finding(NamedTuple):
    """What became of one chain: good up to `seq`; `reason` is "" if all of it is."""

    chain: str
    seq: int
    erased: int
    reason: str = ""

    def __str__(self) -> str:
        good = f"intact up to seq {self.seq}" + (f", {self.erased} with erased images" * bool(self.erased))
        fault = f"BROKEN at seq {self.seq + 1}: {self.reason}; " * bool(self.reason)
        return f"{self.chain or '(no chain named)'}: {fault}{good}"


def canonical(value: Any) -> str:
    """Return RFC 8785 canonical JSON; ValueError for what JSON cannot keep exactly."""
    if value is None or isinstance(value, str | bool) or (type(value) is int and abs(value) < 2**53):
        return WRITE(value)
    if isinstance(value, dict):
        pairs = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be"))
        return "{" + ",".join([f"{WRITE(key)}:{canonical(item)}" for key, item in pairs]) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if not isinstance(value, int | float) or (isinstance(value, int) and number(float(value)) != str(value)):
        raise ValueError("not a JSON value, or an integer that a double cannot keep")
    return number(float(value))


def number(value: float) -> str:
    """Return a double as ECMAScript prints it (RFC 8785, section 3.2.2.3)."""
    if not abs(value) < float("inf"):
        raise ValueError("not a number of JSON")
    sign, (mantissa, _, exponent) = "-" * (value < 0), repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    digits, point = digits.rstrip("0"), len(digits) - len(fraction) + int(exponent or 0)
    if not digits:
        return "0"
    if 0 < point <= 21:
        return sign + digits[:point].ljust(point, "0") + "." * (len(digits) > point) + digits[point:]
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}e{point - 1:+d}"


def image_fault(record: Line, erased: set[str]) -> str:
    """Return what is wrong with the images of a record whose hash is right, or ""."""
    images = [record.get(side) for side in IMAGES if f"{side}_commitment" in record]
    kept = [record[f"{side}_commitment"] for side in IMAGES if f"{side}_commitment" in record]
    salt = record.get("salt", "")
    if WITHHELD in erased and salt == "" and any(kept) and images == [WITHHELD if one else None for one in kept]:
        return ""
    if salt == "" and any(kept) and images == [ERASED if one else None for one in kept]:
        explained = erased.intersection(record.get("image_sources", ()))
        return "" if explained else "images are gone, and no source.erase record explains it"
    key = bytes.fromhex(salt)
    found = ["" if one is None else hmac.digest(key, canonical(one).encode(), "sha256").hex() for one in images]
    same = found == kept and salt == (key.hex() if any(kept) else "")
    return "" if same else "an image, a reason or the salt was changed"


def fault(record: Line, last: Line, chain: str, owner: str, known: Known, erased: set[str]) -> str:
    """Return what is wrong with the record that should follow `last`, or ""."""
    if type(record.get("seq")) is not int or record["seq"] != last["seq"] + 1:
        return "a record is missing, added or out of order"
    if record.get(owner) != chain or record.get("prev_hash") != last["hash"]:
        return "the record does not follow the one before it"
    try:
        bare = {"before", "after", "salt", "prev_hash", "hash", "reason" * ("reason_commitment" in record)}
        body = canonical({key: value for key, value in record.items() if key not in bare})
        found = hashlib.sha256((last["hash"] + body).encode()).hexdigest()
        if record.get("hash") != found:
            return "a field of the record was changed"
        if known.get(record["seq"], {found}) != {found}:
            return "the record is not the one that an anchor names"
        return image_fault(record, erased)
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        return "a field of the record was changed into something that no record holds"


def follow(chain: str, records: Lines, owner: str, known: Known, erased: set[str]) -> Finding:
    """Follow one chain; `known` says which hash a number must have."""
    last, blank = Line(seq=0, hash=""), 0
    for record in records:
        reason = fault(record, last, chain, owner, known, erased)
        if reason:
            return Finding(chain, last["seq"], blank, reason)
        blank += any(record.get(side) in (ERASED, WITHHELD) for side in IMAGES)
        last = record
    short = max(known, default=0) > last["seq"]
    return Finding(chain, last["seq"], blank, "the chain ends before what an anchor names" * short)


def verify(
    records: Lines, anchors: Lines = (), published: Lines = (), partial: bool = False, steps: Lines | None = None
) -> list[Finding]:
    """Verify all chains of an export, that of administration if `steps` are given; one finding each."""
    # A pool that its newest anchor names must be there; one that newer anchors no longer name was purged.
    pools, good, findings = grouped(records, "pool"), list(published), list[Finding]()
    offices = {OFFICE + workspace: chain for workspace, chain in grouped(steps or (), "workspace").items()}
    trusted = known_hashes((one["workspace"], one) for one in good)
    for workspace, chain in grouped(anchors, "workspace").items():
        findings.append(follow(workspace, chain, "workspace", trusted.get(workspace, {}), set()))
        good += chain[: findings[-1].seq]
    newest = {one["workspace"]: one["heads"] for one in sorted(good, key=lambda one: int(one["seq"]))}
    known = known_hashes(head for one in good for head in one["heads"].items())
    erasures = [one for chain in pools.values() for one in chain if one.get("operation") == "source.erase"]
    named = [id_ for one in erasures if isinstance(one.get("after"), dict) for id_ in one["after"].get("sourceIds", ())]
    erased = {*map(str, named), *(str(one.get("target_id")) for one in erasures), *[WITHHELD] * partial}
    for name in sorted({*pools, *offices}.union(*() if partial else newest.values())):
        owner, shown = ("workspace", name[len(OFFICE) :]) if name.startswith(OFFICE) else ("pool", name)
        if owner == "pool" or name in pools or steps is not None:
            chain = offices.get(name, pools.get(name, []))
            findings.append(follow(shown, chain, owner, known.get(name, {}), erased)._replace(chain=name))
    return findings


def grouped(lines: Lines, owner: str) -> dict[str, list[Line]]:
    """Return lines by chain, each in the order of the file; what names no chain is under ""."""
    chains: dict[str, list[Line]] = {}
    for line in lines:
        chains.setdefault(str(line.setdefault(owner, "")), []).append(line)
    return chains


def known_hashes(heads: Iterable[tuple[str, Line]]) -> dict[str, Known]:
    """Return, for each chain, the hashes that a number must have."""
    known: dict[str, Known] = {}
    for chain, head in heads:
        known.setdefault(chain, {}).setdefault(head["seq"], set()).add(head["hash"])
    return known


def read(path: Path) -> list[Line]:
    """Return the JSON objects of a file; ValueError for anything else, or for a key given twice."""

    def unique(pairs: list[tuple[str, Any]]) -> Line:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a key is given twice")
        return dict(pairs)

    return [dict(json.loads(one, object_pairs_hook=unique)) for one in path.read_text("utf-8").split("\n") if one]


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description="Check exported audit chains without any service.")
    parser.add_argument("export", type=Path, help="audit records, or a folder with audit.jsonl and anchors.jsonl")
    parser.add_argument("--published", type=Path, help="anchors that were kept outside the store")
    parser.add_argument("--partial", action="store_true", help="an evidence bundle: images may be withheld")
    options = parser.parse_args(argv)
    whole: Path = options.export
    records, anchors, steps = (whole / f"{name}.jsonl" for name in ("audit", "anchors", "administration"))
    try:
        own, done = (read(path) if path.exists() else [] for path in (anchors, steps))
        outside = read(options.published) if options.published else []
        given = None if options.partial or not whole.is_dir() else done
        findings = verify(read(records if whole.is_dir() else whole), own, outside, options.partial, given)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        sys.stderr.write(f"cannot read the export: {type(error).__name__}: {error}\n")
        return 2
    broken = sum(bool(one.reason) for one in findings)
    sys.stdout.write("".join(f"{one}\n" for one in findings))
    sys.stdout.write(f"{broken} of {len(findings)} chains are BROKEN\n" if broken else "all chains hold\n")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
