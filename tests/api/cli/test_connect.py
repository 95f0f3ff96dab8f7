"""`rootward admin signals` and `connector`: a folder becomes knowledge with three commands (AD-18, MA-19)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.cli.support import Cli


@pytest.mark.req("AD-18", "MA-19", "MA-22", "MA-25")
def test_a_folder_is_kept_in_step_and_a_vanished_one_is_told(made: Cli, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "orion.md").write_text("# Hosting\n\nOrion is hosted in Berlin.")
    allowed = {"ROOTWARD_CONNECTORS__FOLDERS": str(shelf)}
    made.ok("admin", "agent", "Atlas", "--id", "atlas")
    connect = ("admin", "connector", "folder", str(shelf), "--agent", "atlas", "--base", "shared", "--name", "Shelf")
    refused = made.run(*connect)
    assert (refused.code, "kinds of connectors" in refused.err) == (2, True)
    id_ = made.run(*connect, **allowed).out.split(": ")[1].strip()
    assert made.run("worker", "--once", **allowed).code == 0
    assert "hosted in Berlin" in made.ok("ask", "hosted Berlin", "--agent", "atlas")
    assert made.ok("admin", "connector", "documents", "atlas", "--problems").count("\n") == 1
    assert "orion.md" in made.ok("admin", "connector", "documents", "atlas")
    (shelf / "orion.md").write_text("# Hosting\n\nOrion is hosted in Rome.")
    assert made.run("admin", "connector", "sync", id_, **allowed).code == 0
    assert made.run("worker", "--once", **allowed).code == 0
    assert "hosted in Rome" in made.ok("ask", "hosted Rome", "--agent", "atlas")
    (shelf / "orion.md").unlink()
    shelf.rmdir()
    assert made.run("admin", "connector", "sync", id_, **allowed).code == 0
    made.run("worker", "--once", **allowed)
    told = " ".join(made.ok("admin", "connector", "list", "atlas").split())
    assert "SYNC_PLACE_GONE" in told
    assert "Shelf: the place of the connector is not there any more: give it back" in told
    assert "hosted in Rome" in made.ok("ask", "hosted Rome", "--agent", "atlas")
    assert made.ok("admin", "connector", "set", id_, "removed").strip() == "removed"
    assert made.run("worker", "--once", **allowed).code == 0
    assert "Orion is hosted" not in made.run("ask", "hosted Rome", "--agent", "atlas").out


@pytest.mark.req("AD-18", "MA-15", "MA-14")
def test_signal_sources_are_made_for_a_named_base(made: Cli) -> None:
    made.ok("admin", "agent", "Atlas", "--id", "atlas")
    made.ok("admin", "channel", "Orders", "--agent", "atlas", "--id", "orders")
    made.ok("admin", "signals", "Prices", "--agent", "atlas", "--base", "agent", "--volatile")
    made.ok("admin", "signals", "Deploys", "--agent", "atlas", "--base", "channel", "--channel", "orders")
    assert made.run("admin", "signals", "Nowhere", "--agent", "atlas").code == 2
    assert made.run("admin", "signals", "Half", "--agent", "atlas", "--base", "channel").code == 2
    listed = made.ok("admin", "connector", "list", "atlas")
    assert "volatile" in next(line for line in listed.splitlines() if "Prices" in line)
    assert "signal_source.set" in made.ok("admin", "log")
