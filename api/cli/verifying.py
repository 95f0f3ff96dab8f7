"""`rootward verify` and `anchor`: the audit chains, followed by the service or without it (KN-85, AD-27)."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from api.cli import exits, verify_bundle, verify_offline
from api.cli.given import Chosen
from api.cli.link import linked
from graph.model.errors import ArchiveInvalid
from graph.model.time import parse
from graph.services.admin.archive_files import MANIFEST, reading

ONLINE = """
query($from: Int) {
  verifyAudit(fromSeq: $from) {
    ok
    chains { knowledgeBaseId ok brokenAtSeq reason headSeq headHash }
    administration { ok brokenAtSeq reason headSeq headHash }
    anchors { ok brokenAtSeq reason headSeq headHash }
  }
}"""
ANCHOR = "mutation { anchorAudit { seq recordedAt heads hash prevHash } }"


def verify_files(path: Path, published: Path | None) -> int:
    """Check an archive, an export of the audit or an evidence bundle; return the exit code."""
    extra = [] if published is None else ["--published", str(published)]
    if (path / "bundle.json").is_file():
        return verify_bundle.main([str(path), *extra])
    if path.suffix == ".jsonl":
        return verify_offline.main([str(path), *extra])
    with reading(path) as folder:
        found = verify_offline.main([str(folder), *extra])
        if (folder / MANIFEST).is_file() and found != exits.USAGE:
            whole = _check_whole(folder)
            return found or whole
        return found


def _check_whole(folder: Path) -> int:
    """Compare all files of an archive with its manifest, as loading it does; return the exit code (AD-41)."""
    from graph.services.admin.archive import check_archive

    try:
        asyncio.run(check_archive(folder))
    except ArchiveInvalid as error:
        if error.details.get("part") == MANIFEST:  # as of a newer version: that says nothing of its files
            sys.stderr.write(f"the files of the archive cannot be compared: {error}\n")
            return exits.USAGE
        sys.stdout.write(f"the archive is BROKEN: {error} ({error.details.get('part', folder.name)})\n")
        return exits.FOUND
    sys.stdout.write("all files are those that were written\n")
    return exits.DONE


async def verify(chosen: Chosen, who: str | None, from_seq: int, out: Console) -> int:
    """Let the service follow all chains that the caller reads; return the exit code."""
    async with linked(chosen) as link:
        found = (await link.run(ONLINE, token=link.token(who), **{"from": from_seq}))["verifyAudit"]
    chains = [(chain["knowledgeBaseId"], chain) for chain in found["chains"]]
    chains += [(name, found[name]) for name in ("administration", "anchors") if found[name]]
    for name, chain in chains:
        out.print(_line(name, chain))
    broken = sum(not chain["ok"] for _, chain in chains)
    out.print(f"{broken} of {len(chains)} chains are BROKEN" if broken else "all chains hold")
    return exits.DONE if found["ok"] else exits.FOUND


async def anchor(chosen: Chosen, out: Console) -> None:
    """Bind the heads of all chains now and print the anchor as one line that `verify --published` reads."""
    async with linked(chosen) as link:
        token = link.token()
        name = (await link.run("{ workspace { name } }", token=token))["workspace"]["name"]
        made = (await link.run(ANCHOR, token=token))["anchorAudit"]
    line = {
        "workspace": name,
        "seq": made["seq"],
        "recorded_at": parse(made["recordedAt"]),
        "heads": made["heads"],
        "prev_hash": made["prevHash"],
        "hash": made["hash"],
    }
    out.print(json.dumps(line, ensure_ascii=False, sort_keys=True))


def _line(name: str, chain: dict[str, Any]) -> str:
    if chain["ok"]:
        return f"{name}: intact, {chain['headSeq']} records, head {chain['headHash'][:16]}"
    return f"{name}: BROKEN at seq {chain['brokenAtSeq']}: {chain['reason']}"
