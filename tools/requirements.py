"""Which requirements of docs/contracts have a test: `python -m tools.requirements`.

A requirement is a line that begins with its id in bold (``- **KN-1** …`` or ``| **FM-1** | …``). A test names the
ids it covers with ``@pytest.mark.req("KN-1", …)``. The marks are read from the source, so nothing is imported or
run; a mark on a test that is skipped or expected to fail does not count.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ("tests", "client/tests")
"""Where tests lie."""

_DECLARED = re.compile(r"^(?:- |\| )\*\*([A-Z]{2}-\d+)\*\*", re.MULTILINE)
_ID = re.compile(r"([A-Z]{2})-(\d+)")
_NOT_RUN = frozenset({"skip", "skipif", "xfail"})


@dataclass(frozen=True, order=True)
class Requirement:
    """An id such as KN-70; ordered by prefix, then number."""

    prefix: str
    number: int

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Return the requirement that ``text`` names.

        Raises:
            ValueError: it is not of the form ``KN-70``.
        """
        match = _ID.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is no requirement id; write it as KN-70")
        return cls(match[1], int(match[2]))

    def __str__(self) -> str:
        return f"{self.prefix}-{self.number}"


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One ``req`` mark: the ids it names and where it stands."""

    ids: tuple[str, ...]
    place: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """What is covered, what is owed, and what is wrong with the marks themselves."""

    declared: frozenset[Requirement]
    covered: frozenset[Requirement]
    built: frozenset[Requirement]
    building: frozenset[Requirement]
    faults: tuple[str, ...]

    @property
    def broken_promises(self) -> frozenset[Requirement]:
        """Ids that are called built and have no test."""
        return self.built - self.covered

    @property
    def fails(self) -> bool:
        return bool(self.faults or self.broken_promises)


def declared_in(text: str) -> list[Requirement]:
    """Return the requirements that one contract declares, in its order."""
    return [Requirement.parse(name) for name in _DECLARED.findall(text)]


def expand(entries: Iterable[str]) -> frozenset[Requirement]:
    """Return the ids of a list of ids and closed ranges.

    Raises:
        ValueError: an entry is malformed, runs backwards or spans two prefixes.

    >>> sorted(map(str, expand(["KN-1..KN-3", "AD-9"])))
    ['AD-9', 'KN-1', 'KN-2', 'KN-3']
    """
    return frozenset(one for entry in entries for one in _expand_entry(entry))


def _expand_entry(entry: str) -> Iterator[Requirement]:
    first, _, last = entry.partition("..")
    low, high = Requirement.parse(first), Requirement.parse(last or first)
    if low.prefix != high.prefix or low.number > high.number:
        raise ValueError(f"{entry!r} is no range of ids")
    return (Requirement(low.prefix, number) for number in range(low.number, high.number + 1))


def compress(ids: Iterable[Requirement]) -> str:
    """Return ids as text, neighbours joined to ranges.

    >>> compress(expand(["KN-1..KN-3", "KN-7", "AD-9"]))
    'AD-9 KN-1..KN-3 KN-7'
    """
    runs: list[list[Requirement]] = []
    for one in sorted(ids):
        if runs and (runs[-1][-1].prefix, runs[-1][-1].number + 1) == (one.prefix, one.number):
            runs[-1].append(one)
        else:
            runs.append([one])
    return " ".join(str(run[0]) if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs)


def marks_in(source: str, path: str) -> list[Mark]:
    """Return the ``req`` marks of a test file that count.

    Raises:
        ValueError: a mark takes something else than literal strings.
    """
    tree = ast.parse(source, filename=path)
    idle = {id(node) for test in ast.walk(tree) if _is_idle(test) for node in ast.walk(test)}
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and _mark_name(node) == "req")
    return [_read_mark(call, path) for call in calls if id(call) not in idle]


def _read_mark(call: ast.Call, path: str) -> Mark:
    place = f"{path}:{call.lineno}"
    ids = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    if not ids or len(ids) != len(call.args) or call.keywords:
        raise ValueError(f'{place}: write the ids as plain strings, as in pytest.mark.req("KN-70")')
    return Mark(ids=tuple(ids), place=place)


def _is_idle(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    return any(_mark_name(decorator) in _NOT_RUN for decorator in node.decorator_list)


def _mark_name(node: ast.expr) -> str | None:
    """Return X of ``pytest.mark.X`` or ``mark.X``, called or not."""
    target = node.func if isinstance(node, ast.Call) else node
    if not isinstance(target, ast.Attribute):
        return None
    owner = target.value
    is_mark = (isinstance(owner, ast.Attribute) and owner.attr == "mark") or (
        isinstance(owner, ast.Name) and owner.id == "mark"
    )
    return target.attr if is_mark else None


def judge(contracts: Mapping[str, str], tests: Mapping[str, str], stages: Mapping[str, Sequence[str]]) -> Report:
    """Compare contracts, test sources (path to text) and the lists of built.toml.

    An id that is declared twice, a mark or a list entry that names an unknown id, and an unreadable mark are faults.
    """
    declared: list[Requirement] = [one for text in contracts.values() for one in declared_in(text)]
    known = frozenset(declared)
    faults = [f"{one} is declared twice" for one in sorted(known) if declared.count(one) > 1]
    covered: set[Requirement] = set()
    for mark in _all_marks(tests, faults):
        for name in mark.ids:
            try:
                covered.add(_known(name, known))
            except ValueError as fault:
                faults.append(f"{mark.place}: {fault}")
    built, building = expand(stages.get("built", ())), expand(stages.get("building", ()))
    faults += [f"built.toml names {one}, which no contract declares" for one in sorted((built | building) - known)]
    return Report(
        declared=known,
        covered=frozenset(covered),
        built=built,
        building=building - built,
        faults=tuple(faults),
    )


def _all_marks(tests: Mapping[str, str], faults: list[str]) -> Iterator[Mark]:
    for path, source in tests.items():
        try:
            yield from marks_in(source, path)
        except (ValueError, SyntaxError) as fault:
            faults.append(str(fault))


def _known(name: str, known: frozenset[Requirement]) -> Requirement:
    one = Requirement.parse(name)
    if one not in known:
        raise ValueError(f"{name} stands in no contract")
    return one


def render(report: Report) -> str:
    """Return the report as text: a line per prefix, then the ids without a test by stage."""
    by_prefix: dict[str, set[Requirement]] = defaultdict(set)
    for one in report.declared:
        by_prefix[one.prefix].add(one)
    lines = [_prefix_line(report, prefix, ids) for prefix, ids in sorted(by_prefix.items())]
    lines.append(f"all  {len(report.covered):4}/{len(report.declared)} with a test")
    rest = report.declared - report.built - report.building
    for title, ids in (
        ("built, but without a test", report.broken_promises),
        ("being built, without a test", report.building - report.covered),
        ("not begun, without a test", rest - report.covered),
    ):
        lines.append(f"\n{title}: {len(ids)}" + (f"\n  {compress(ids)}" if ids else ""))
    lines += [f"\nfault: {fault}" for fault in report.faults]
    return "\n".join(lines)


def _prefix_line(report: Report, prefix: str, ids: set[Requirement]) -> str:
    line = f"{prefix:4} {len(ids & report.covered):4}/{len(ids)} with a test"
    for stage, owed in (("built", report.built & ids), ("being built", report.building & ids)):
        if owed:
            line += f"; {stage}: {len(owed & report.covered)}/{len(owed)}"
    return line


def read_report(root: Path) -> Report:
    """Return the report on a checkout."""
    contracts = root / "docs" / "contracts"
    return judge(
        _texts(root, sorted(contracts.glob("*.md"))),
        _texts(root, [path for folder in TESTS for path in sorted((root / folder).rglob("test_*.py"))]),
        tomllib.loads((contracts / "built.toml").read_text(encoding="utf-8")),
    )


def _texts(root: Path, paths: Iterable[Path]) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in paths}


def main() -> int:
    """Print the report; return 1 if a built id has no test or a mark is wrong."""
    report = read_report(ROOT)
    print(render(report))
    return 1 if report.fails else 0


if __name__ == "__main__":
    sys.exit(main())
