"""Shows that the tests would notice if a rule that trust rests on were missing.

Each mutation takes one clause out of the code, in a copy of the tree, and runs the tests that should turn red. Extend
`MUTATIONS` when a new rule of this weight is written.

Usage: ``python tools/mutation_check.py [--quick] [--no-neo4j] [name …]``.

Exit status: 0 if the tests are green as they are and red under every mutation, else 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("graph", "dreaming", "api", "tests", "tools", "pyproject.toml")
TIMEOUT_S = 600
LAW_TESTS = (
    "tests/unit/graph/rules/test_visibility.py",
    "tests/property/rules/test_law.py",
)
AUDIENCE_TESTS = (
    "tests/unit/graph/rules/test_audience.py",
    "tests/property/rules/test_audience.py",
)
LAW = "graph/rules/visibility.py"
AUDIENCE = "graph/rules/audience.py"
RESTORE = "graph/services/knowledge/restore.py"
RESTORE_TESTS = "tests/unit/graph/services/knowledge/test_restore.py"
UPKEEP = "graph/services/audience.py"
UPKEEP_TESTS = ("tests/property/services/test_audience_upkeep.py", "tests/contract/store/test_races.py")
SESSION = "graph/services/access/session.py"
NEW_ENEMY = "tests/unit/graph/services/access/test_new_enemy.py"
NEW_ENEMY_OF_BOTS = "tests/unit/graph/services/access/test_new_enemy_of_bots.py"


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutation:
    """One rule left out.

    Attributes:
        name: what is missing then.
        file: path from the root of the tree.
        old: text that occurs exactly once in the file.
        new: what stands there instead.
        tests: each of these must turn red by itself.
        quick: part of what every build runs, see `make mutations`.
        neo4j: the tests need a real Neo4j, because the other stores have one writer at a time.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    quick: bool = False
    neo4j: bool = False


MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        name="law: cycles that rest on themselves are shown",
        file=LAW,
        old="        return frozenset(self.shown)\n",
        new="""        round_and_round = set(self.unmet)
        while True:  # the greatest fixpoint: keep whatever nothing speaks against
            fine = self.shown | round_and_round
            kept = {
                node
                for node in round_and_round
                if self.graph.sources.get(node)
                and all(
                    e.target in fine and (e.ends or self.graph.guards[e.target].held) and e.record is not None
                    for e in self.graph.sources[node]
                )
            }
            if kept == round_and_round:
                return frozenset(fine)
            round_and_round = kept
""",
        tests=LAW_TESTS,
        quick=True,
    ),
    Mutation(
        name="law: a missing source counts as met",
        file=LAW,
        old="edges = self.graph.sources.get(guard.node, ())\n        ends =",
        new=(
            "edges = [e for e in self.graph.sources.get(guard.node, ()) if e.target in self.graph.guards]\n"
            "        ends ="
        ),
        tests=LAW_TESTS,
        quick=True,
    ),
    Mutation(
        name="law: a statement without sources is shown",
        file=LAW,
        old="(len(edges) - ends or 1)",
        new="(len(edges) - ends)",
        tests=LAW_TESTS,
    ),
    Mutation(
        name="law: a missing access rule counts as passed",
        file=LAW,
        old="    if guard.rules is None:\n        return False\n",
        new="    if guard.rules is None:\n        return True\n",
        tests=("tests/unit/graph/rules/test_audience.py",),
    ),
    Mutation(
        name="law: a missing access rule of a node counts as passed",
        file=LAW,
        old="            return has_access_rule(guard)\n        known",
        new="            return True\n        known",
        tests=LAW_TESTS,
    ),
    Mutation(
        name="law: a missing access record of a link counts as passed",
        file=LAW,
        old="if record is None or not (target.held or edge.ends):",
        new="if not (target.held or edge.ends):",
        tests=LAW_TESTS,
        quick=True,
    ),
    Mutation(
        name="law: the record of a link is not asked",
        file=LAW,
        old="(own or target.need is _SOURCE) and passes_all(record)",
        new="own or target.need is _SOURCE",
        tests=LAW_TESTS,
    ),
    Mutation(
        name="law: the own rule of a statement is not asked",
        file=LAW,
        old="guard.node not in self.graph.cut and self._own_rules_pass(guard)",
        new="guard.node not in self.graph.cut",
        tests=LAW_TESTS,
        quick=True,
    ),
    Mutation(
        name="law: withdrawn sources are shown",
        file=LAW,
        old="if not guard.live or (workspace is not None and guard.workspace != workspace):",
        new="if workspace is not None and guard.workspace != workspace:",
        tests=LAW_TESTS,
    ),
    Mutation(
        name="law: the excluded are not left out",
        file=LAW,
        old="return principal not in guard.excluded",
        new="return True",
        tests=LAW_TESTS,
    ),
    Mutation(
        name="law: what was retracted still supports",
        file=LAW,
        old="if record is None or not (target.held or edge.ends):",
        new="if record is None:",
        tests=LAW_TESTS,
    ),
    Mutation(
        name="law: one source is enough for need all",
        file=LAW,
        old="(len(edges) - ends or 1)",
        new="1",
        tests=LAW_TESTS,
    ),
    Mutation(
        name="law: a second evidence stands in for a hidden end",
        file=LAW,
        old="if need is _ANY and dependent not in self.met_any:",
        new="if need is _ANY:",
        tests=LAW_TESTS,
    ),
    Mutation(
        name="law: other workspaces are not left out",
        file=LAW,
        old="if not guard.live or (workspace is not None and guard.workspace != workspace):",
        new="if not guard.live:",
        tests=("tests/unit/graph/rules/test_visibility.py",),
    ),
    Mutation(
        name="law: what was decided before is shown, hidden or not",
        file=LAW,
        old="                if guard.node in self.before.shown:\n",
        new="                if True:\n",
        tests=("tests/property/rules/test_law_in_parts.py",),
    ),
    Mutation(
        name="law: all of several alternatives are asked for",
        file="graph/model/access.py",
        old="            return not self.held.isdisjoint(rule.alternatives())\n",
        new="            return self.held.issuperset(rule.alternatives())\n",
        tests=("tests/property/rules/test_law.py", "tests/unit/graph/rules/test_bot_law.py"),
        quick=True,
    ),
    Mutation(
        name="audience: alternatives are stored as the one rule that they are in a guard",
        file=AUDIENCE,
        old="    plain = frozenset(rule for rule in given if len(rule.alternatives()) == 1)\n",
        new="    plain = frozenset(given)\n",
        tests=("tests/property/rules/test_audience.py", "tests/unit/graph/rules/test_bot_law.py"),
    ),
    Mutation(
        name="upkeep: new nodes do not demand what their links say",
        file=UPKEEP,
        old="source_graph((*guards, *beneath.values()), edges), new, known)",
        new="source_graph((*guards, *beneath.values()), edges[1:]), new, known)",
        tests=UPKEEP_TESTS[:1],
    ),
    Mutation(
        name="audience: only direct dependents are computed anew",
        file=AUDIENCE,
        old="                queue.append(edge.source)\n    return frozenset(found)",
        new="    return frozenset(found)",
        tests=AUDIENCE_TESTS,
    ),
    Mutation(
        name="audience: computed from what was stored instead of from none",
        file=AUDIENCE,
        old="= {node: _AUDIENCE(node, _NOBODY, _NO_ONE) for node in affected}",
        new="= {n: known.get(n) or _AUDIENCE(n, _NOBODY, _NO_ONE) for n in affected}",
        tests=("tests/unit/graph/rules/test_audience.py",),
    ),
    Mutation(
        name="audience: cycles are not settled",
        file=AUDIENCE,
        old="        self._settle(circular)\n",
        new="",
        tests=AUDIENCE_TESTS,
    ),
    Mutation(
        name="audience: ends are not demanded",
        file=AUDIENCE,
        old="*ends, _needed(guard.need, sources)])",
        new="_needed(guard.need, sources)])",
        tests=AUDIENCE_TESTS,
    ),
    Mutation(
        name="audience: exclusions are not inherited",
        file=AUDIENCE,
        old="                excluded |= more\n",
        new="                pass\n",
        tests=AUDIENCE_TESTS,
    ),
    Mutation(
        name="upkeep: what rests on a change is not decided anew",
        file=UPKEEP,
        old="    affected = await dependents(writer, changed)\n    if not affected:\n",
        new="    affected = frozenset(changed)\n    if not affected:\n",
        tests=UPKEEP_TESTS,
        quick=True,
    ),
    Mutation(
        name="upkeep: what rests on something that was widened is not decided anew",
        file=UPKEEP,
        old="        layer = {edge.source for edge in above.edges} - done if above else set()\n",
        new="        layer = set()\n",
        tests=UPKEEP_TESTS[:1],
    ),
    Mutation(
        name="lock: a withdrawal does not hold what rests on the source",
        file=UPKEEP,
        old="        await writer.lock(sorted(held))\n",
        new="        pass\n",
        tests=("tests/contract/store/test_races.py",),
        neo4j=True,
    ),
    Mutation(
        name="versions of rights: a request whose rights moved is not repeated",
        file=SESSION,
        old="        return {**bases, **others} != {**self.others, **self.versions}\n",
        new="        return False\n",
        tests=(NEW_ENEMY, NEW_ENEMY_OF_BOTS),
        quick=True,
    ),
    Mutation(
        name="versions of rights: of somebody else for whom is read they are not watched",
        file=SESSION,
        old="        return {**bases, **others} != {**self.others, **self.versions}\n",
        new="        return bases != self.versions\n",
        tests=(NEW_ENEMY_OF_BOTS,),
    ),
    Mutation(
        name="versions of rights: what goes into a prompt is of two states",
        file="graph/services/bots/readers.py",
        old="            if keeps or before == await versions_of(reader, watched):\n",
        new="            if True:\n",
        tests=(NEW_ENEMY_OF_BOTS,),
    ),
    Mutation(
        name="versions of rights: two processes on Neo4j, and a request whose rights moved is not repeated",
        file=SESSION,
        old="        return {**bases, **others} != {**self.others, **self.versions}\n",
        new="        return False\n",
        tests=(NEW_ENEMY_OF_BOTS,),
        neo4j=True,
    ),
    Mutation(
        name="versions of rights: a command commits though the rights of whom it was done for moved",
        file="graph/services/access/commands.py",
        old="    known = {**cmd.session.others, cmd.facts.principal: cmd.facts.access_version}\n",
        new="    known = {cmd.facts.principal: cmd.facts.access_version}\n",
        tests=("tests/unit/graph/services/access/test_revoked_while_writing.py",),
        neo4j=True,
    ),
    Mutation(
        name="versions of things: an edit on a stale version is taken",
        file="graph/rules/operations/targets.py",
        old="    if expected != current:\n",
        new="    if False:\n",
        tests=(
            "tests/unit/graph/rules/operations/test_blocks.py",
            "tests/unit/graph/services/knowledge/test_operations_acceptance.py",
        ),
        quick=True,
    ),
    Mutation(
        name="proof: what the index proposes is shown unproved",
        file=SESSION,
        old="            known.add(graph, visible_to(graph, self.viewer, known))\n",
        new="            known.add(graph, unknown)\n",
        tests=("tests/unit/graph/services/access/test_index_and_law.py",),
        quick=True,
    ),
    Mutation(
        name="restore: whoever sees a record may undo it",
        file=RESTORE,
        old="        check_write(cmd.facts, scope_of(base), conversation=cmd.session.conversation)\n",
        new="        pass\n",
        tests=(RESTORE_TESTS,),
    ),
    Mutation(
        name="restore: a preview shows a present value on hidden evidence",
        file=RESTORE,
        old="    return without_current(plan, ",
        new="    return without_current(plan, set() and ",
        tests=(RESTORE_TESTS,),
    ),
    Mutation(
        name="restore: a stale preview is carried out",
        file="graph/rules/restore.py",
        old="    if expected_preview_hash is not None and expected_preview_hash != plan.preview_hash:\n",
        new="    if False:\n",
        tests=(RESTORE_TESTS, "tests/unit/graph/rules/test_restore.py"),
    ),
    Mutation(
        name="archive: damaged files are loaded",
        file="graph/services/admin/archive_files.py",
        old="    if digest.hexdigest() != sha256:\n",
        new="    if False:\n",
        tests=("tests/unit/graph/services/admin/test_archive.py",),
    ),
    Mutation(
        name="sessions: an edit of a revision that is past is taken",
        file="graph/rules/session_memory.py",
        old="    if seen.head != session.head or seen.revision != session.revision:\n",
        new="    if seen.head != session.head:\n",
        tests=("tests/unit/graph/rules/test_session_memory.py", "tests/api/rest/test_sessions.py"),
    ),
    Mutation(
        name="sessions: what is learned after a return counts for what followed before",
        file="graph/rules/session_memory_history.py",
        old="    return until is None or seq <= until\n",
        new="    return True\n",
        tests=("tests/property/services/test_session_history.py",),
    ),
    Mutation(
        name="sessions: a reply may be of two revisions",
        file="graph/services/sessions/memory.py",
        old="        if (await open_session(reading, session_id)).revision == session.revision:\n",
        new="        if session:\n",
        tests=("tests/unit/graph/services/sessions/test_races.py",),
    ),
    Mutation(
        name="sessions: an edit does not hold its session",
        file="graph/services/sessions/finding.py",
        old="    await writer.lock([id_])\n    found = (await writer.get(SESSIONS, [id_])).get(id_)\n",
        new="    found = (await writer.get(SESSIONS, [id_])).get(id_)\n",
        tests=("tests/unit/graph/services/sessions/test_races.py",),
        neo4j=True,
    ),
)


def main(names: Sequence[str]) -> int:
    """Check the mutations whose names contain one of `names` (all if empty); return the exit status.

    ``--quick`` takes those that every build runs; ``--no-neo4j`` leaves out those that need a real Neo4j, and says so.
    """
    parts = [name for name in names if not name.startswith("--")]
    chosen = [m for m in MUTATIONS if not parts or any(part in m.name for part in parts)]
    if "--quick" in names:
        chosen = [m for m in chosen if m.quick]
    if "--no-neo4j" in names:
        print(*(f"LEFT OUT   {m.name}" for m in chosen if m.neo4j), sep="\n")
        chosen = [m for m in chosen if not m.neo4j]
    with tempfile.TemporaryDirectory(prefix="rootward-mutation-") as folder:
        tree = copy_tree(Path(folder))
        unfit = sorted({test for m in chosen for test in m.tests if run_tests(tree, test, neo4j=m.neo4j)})
        if unfit:
            print("red without any mutation, nothing can be shown:", *unfit, sep="\n  ")
            return 1
        survivors = [line for mutation in chosen for line in survive(tree, mutation)]
    print(f"{len(chosen)} mutations, {len(survivors)} unnoticed")
    return 1 if survivors or not chosen else 0


def survive(tree: Path, mutation: Mutation) -> list[str]:
    """Return the test files that stay green under `mutation`; tells about each."""
    path = tree / mutation.file
    original = path.read_text()
    path.write_text(mutate(original, mutation))
    try:
        green = [test for test in mutation.tests if run_tests(tree, test, neo4j=mutation.neo4j) != 1]
    finally:
        path.write_text(original)
    print(f"{'UNNOTICED' if green else 'noticed  '}  {mutation.name}", *green, sep="\n             by ", flush=True)
    return green


def mutate(text: str, mutation: Mutation) -> str:
    """Return `text` with the mutation.

    Raises:
        ValueError: the old text is not there exactly once, so the table must be brought up to date.
    """
    if text.count(mutation.old) != 1:
        raise ValueError(f"{mutation.file}: the text of “{mutation.name}” must occur once; update the table")
    return text.replace(mutation.old, mutation.new)


def copy_tree(folder: Path) -> Path:
    """Copy what the tests need and return where it is."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        elif source.exists():
            shutil.copy(source, folder / name)
    return folder


def run_tests(tree: Path, test: str, *, neo4j: bool = False) -> int:
    """Run one test file in `tree`, only on Neo4j or only without it.

    Returns:
        pytest's exit status: 0 green, 1 red, other values are faults.
    """
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.setdefault("ROOTWARD_LAW_GRAPHS", "300")
    marked = "neo4j" if neo4j else "not neo4j"
    if neo4j:
        environment["ROOTWARD_NEO4J"] = "required"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", marked, test],
        cwd=tree,
        env=environment,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
