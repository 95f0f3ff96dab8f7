"""`rootward export`, `import --archive`, `bundle`: the whole store as an archive, one statement as evidence (AD-41)."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from api.bootstrap import Ports, make_deps, running
from api.cli.bundling import bundle as make_bundle
from api.cli.given import Chosen
from api.cli.link import find_server, linked, require_store
from api.cli.withdrawing import resolved
from graph.model.errors import BadState
from graph.services.access.tokens import authenticate
from graph.services.admin.archive import export_archive as write
from graph.services.admin.archive import import_archive as load
from graph.services.admin.archive_files import read_manifest, reading


async def export(chosen: Chosen, target: Path, out: Console) -> None:
    """Write everything to an archive: by the running server if there is one, else here."""
    if await find_server(chosen):
        async with linked(chosen) as link:
            found = await link.operate("export", {"path": str(target)})
        rows, blobs, missing = found["rows"], found["blobs"], found["missingBlobs"]
    else:
        require_store(chosen)
        deps = make_deps(chosen.settings, Ports())
        async with running(deps):
            receipt = await write(deps, target)
        rows, blobs, missing = receipt.rows, receipt.blobs, receipt.missing_blobs
    out.print(f"{target}: {sum(rows.values())} rows, {blobs} files")
    if missing:
        out.print(f"  {len(missing)} files were not in the blob store")


async def load_archive(chosen: Chosen, source: Path, out: Console) -> None:
    """Load an archive into an empty store.

    Raises:
        BadState: a server runs on the store, or it holds other data.
        ArchiveInvalid: the archive is damaged; nothing was written.
    """
    if await find_server(chosen):
        raise BadState("stop the server first: an archive is loaded into an empty store that nobody uses")
    with reading(source) as folder:
        read_manifest(folder)  # before the store is opened: what is no archive makes none
        deps = make_deps(chosen.settings, Ports())
        async with running(deps):
            receipt = await load(deps, folder)
    out.print(f"{source}: {sum(receipt.rows.values())} rows, {receipt.blobs} files loaded")
    if receipt.jobs_left_out:
        out.print(f"  {receipt.jobs_left_out} jobs that were under way were left out")
    out.print("Tokens of the archive stay valid; their files are not in it: commands that speak to the store, verify")
    out.print("among them, need NAME.token from the old data directory beside this one, or ROOTWARD_TOKEN.")


async def bundle(chosen: Chosen, ref: str, target: Path, who: str | None, out: Console) -> None:
    """Write the evidence for one node into a folder, as an auditor may see it."""
    id_ = resolved(chosen, ref)
    async with linked(chosen) as link:
        token = link.token(who)
        if link.address:
            files = int((await link.operate("bundle", {"id": id_, "path": str(target)}, token=token))["files"])
        else:
            deps = link.deps
            files = await make_bundle(deps, await authenticate(deps, token), id_, target)
    out.print(f"{target}: {files} files; check them with: python3 {target}/verify_bundle.py")
