"""Run every benchmark of bench/, each in a process of its own: `python -m tools.bench --scale 0.01`.

A benchmark is a file ``bench/NAME.py`` that runs as a program, or a folder ``bench/NAME/`` with ``__main__.py``;
other files, and names that begin with an underscore, are shared parts. It takes ``--scale``, prints its table with the
reference of the same run, and exits non-zero when it could not measure.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

ROOT = Path(__file__).parents[1]


def benchmarks(folder: Path) -> list[str]:
    """Return the module names of the benchmarks in a folder, in order of their names."""
    files = (path.stem for path in folder.glob("*.py") if _is_program(path))
    packages = (path.parent.name for path in folder.glob("*/__main__.py"))
    return sorted(f"{folder.name}.{name}" for name in (*files, *packages) if not name.startswith("_"))


def _is_program(path: Path) -> bool:
    return '__name__ == "__main__"' in path.read_text(encoding="utf-8")


def run_all(modules: Sequence[str], scale: float, root: Path = ROOT) -> list[str]:
    """Run the benchmarks one after the other; return those that failed."""
    failed = []
    for module in modules:
        print(f"\n== {module} --scale {scale:g}", flush=True)
        started = time.monotonic()
        done = subprocess.run([sys.executable, "-m", module, "--scale", f"{scale:g}"], cwd=root, check=False)
        print(f"== {module}: {(time.monotonic() - started) / 60:.1f} min, exit {done.returncode}", flush=True)
        if done.returncode != 0:
            failed.append(module)
    return failed


@contextmanager
def shared_server() -> Iterator[None]:
    """Let all benchmarks use one Neo4j: starting it takes longer than a small benchmark.

    At full size each has its own, since emptying a large one would take longer still.
    """
    from bench._engines import SHARED, start_neo4j

    server = start_neo4j(heap_mb=1_024)
    if server is None:
        yield
        return
    with server:
        os.environ[SHARED] = server.uri
        try:
            yield
        finally:
            del os.environ[SHARED]


def main() -> int:
    """Run all benchmarks, or those named; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full size, above 0")
    parser.add_argument("names", nargs="*", help="names such as visibility; all without one")
    chosen = parser.parse_args()
    there = benchmarks(ROOT / "bench")
    wanted = [f"bench.{name}" for name in chosen.names] or there
    if unknown := sorted(set(wanted) - set(there)):
        print(f"no such benchmark: {', '.join(unknown)}; there are: {', '.join(there) or 'none yet'}")
        return 2
    print(f"bench/ has {len(there)}: {', '.join(there) or 'no benchmark yet'}")
    with shared_server() if chosen.scale < 1 and len(wanted) > 1 else nullcontext():
        failed = run_all(wanted, chosen.scale)
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
