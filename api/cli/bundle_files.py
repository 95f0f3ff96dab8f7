"""Writes an evidence bundle into a folder, beside the scripts by which a second person checks it."""

from __future__ import annotations

import shutil
from pathlib import Path

from graph.model.errors import BadState
from graph.services.knowledge.evidence_bundle import EvidenceBundle

SCRIPTS = ("verify_bundle.py", "verify_offline.py")
README = """Evidence for {root}

Check it with Python 3.11 or newer, nothing else:

    python verify_bundle.py

statement.json        what is said, as it is stored
sources.jsonl         the sources behind it, with the hashes recorded when they came in
provenance.json       how the statement rests on them, with every quote (provenance.prov.json: the same as W3C PROV)
access.json           who may see it, and by which rules
audit.jsonl           the whole audit chains concerned; images of other changes are withheld, their hashes are not
anchors.jsonl         the heads of all chains, bound every so often
bundle.json           hashes of these files and the heads of the chains when the bundle was made

Compare the heads in bundle.json with anchors that were published outside the store:

    python verify_bundle.py --published FILE
"""


def write_bundle(bundle: EvidenceBundle, target: Path) -> None:
    """Write a bundle into a new folder.

    Raises:
        BadState: there is something at `target` already.
    """
    if target.exists():
        raise BadState("there is a file or folder of this name already: choose another")
    target.mkdir(parents=True, mode=0o700)
    for name, data in bundle.files.items():
        (target / name).write_bytes(data)
    for script in SCRIPTS:
        shutil.copyfile(Path(__file__).with_name(script), target / script)
    (target / "README.txt").write_text(README.format(root=bundle.root), encoding="utf-8")
