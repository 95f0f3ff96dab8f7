"""A real Neo4j for tests: Community edition from Maven Central, one process, Bolt on a free loopback port.

The class path of a version is resolved once by Maven and kept under ``.cache/neo4j`` of the checkout. The
server is started by ``neo4j/TestServer.java`` and ends with the process that started it, however that ends.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO

LTS = "5.26.18"
CURRENT = "2026.05.0"
VERSIONS = (LTS, CURRENT)

_HERE = Path(__file__).parent / "neo4j"
_CACHE = Path(__file__).parents[2] / ".cache" / "neo4j"
_RESOLVER = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
_RESOLVE_TIMEOUT_S = 900
_START_TIMEOUT_S = 120
_STOP_TIMEOUT_S = 30
_NO_LIMIT = 999

# Neo4j opens these parts of the JDK by reflection; its own start script passes the same options.
_OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent", "java.lang")

_SETTINGS = {
    "server.bolt.enabled": "true",
    "server.bolt.tls_level": "DISABLED",
    "dbms.security.auth_enabled": "false",
    "dbms.usage_report.enabled": "false",
    "server.memory.pagecache.size": "128m",
    "db.tx_log.preallocate": "false",
}


class Neo4jUnavailable(Exception):
    """This machine cannot run the test server; the message says what is missing."""


@dataclass(frozen=True, kw_only=True)
class Jdk:
    """A Java development kit found on this machine."""

    home: Path
    major: int

    @property
    def java(self) -> Path:
        return self.home / "bin" / "java"


@dataclass(kw_only=True)
class Neo4jServer:
    """A running server. Authentication is off, so any user and password are accepted.

    Use it as a context manager, or call `stop`. With ``home`` given to `start`, the data outlives the server.
    """

    version: str
    port: int
    home: Path
    process: subprocess.Popen[str]
    user: str = "neo4j"
    password: str = "not-checked"
    _owns_home: bool = field(default=True, repr=False)

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    @property
    def auth(self) -> tuple[str, str]:
        return self.user, self.password

    def stop(self) -> None:
        """End the server: in order where the data is kept (about ten seconds), at once where it goes with it.

        A second call does nothing.
        """
        if self._owns_home:
            self.kill()
            return
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            self.process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self._clean_up()

    def kill(self) -> None:
        """End the server at once, as a power cut would (SIGKILL)."""
        self.process.kill()
        self._clean_up()

    def _clean_up(self) -> None:
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None and not stream.closed:
                _close_quietly(stream)
        if self._owns_home:
            shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self) -> Neo4jServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start(
    version: str = CURRENT, *, home: Path | None = None, port: int = 0, heap_mb: int = 768, long_run: bool = False
) -> Neo4jServer:
    """Start a server and wait until it takes Bolt connections (about six seconds).

    Args:
        version: one of `VERSIONS`.
        home: where the data lies; without it a new folder that goes with the server.
        port: TCP port of the Bolt connector on 127.0.0.1; 0 takes a free one.
        heap_mb: upper bound of the Java heap, in MiB.
        long_run: let the JVM compile what runs often as well as it can, as in production. In a run of tests, where
            most of what the server does is done a few times, that costs a third more than it brings.

    Raises:
        Neo4jUnavailable: Java, Maven or the packages are not to be had, or the server did not come up.
    """
    jdk = find_jdk(version)
    folder = home if home is not None else Path(tempfile.mkdtemp(prefix="rootward-neo4j-"))
    settings = _write_settings(folder, port)
    process = subprocess.Popen(
        [str(jdk.java), *_jvm_options(jdk, heap_mb, long_run=long_run), "-cp", class_path(version, jdk),
         str(_HERE / "TestServer.java"), str(folder), str(settings)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    bolt = _await_ready(process, version)
    return Neo4jServer(version=version, port=bolt, home=folder, process=process, _owns_home=home is None)


def find_jdk(version: str) -> Jdk:
    """Return the lowest JDK that suits a Neo4j version: 17 to 21 for 5.x, from 21 on for calendar releases.

    Raises:
        Neo4jUnavailable: no such JDK is on this machine.
    """
    low, high = (17, 21) if version.startswith("5.") else (21, _NO_LIMIT)
    fitting = [jdk for jdk in installed_jdks() if low <= jdk.major <= high]
    if not fitting:
        wanted = f"{low} or later" if high == _NO_LIMIT else f"{low} to {high}"
        raise Neo4jUnavailable(f"Neo4j {version} needs a JDK {wanted}; set JAVA_HOME or install one")
    return min(fitting, key=lambda jdk: jdk.major)


def installed_jdks() -> list[Jdk]:
    """Return the JDKs (with a compiler) of this machine, each once: JAVA_HOME, the PATH, usual folders."""
    found = {jdk.home: jdk for jdk in map(_probe, _candidate_homes()) if jdk is not None}
    return list(found.values())


def class_path(version: str, jdk: Jdk) -> str:
    """Return the class path of a Neo4j version, resolved by Maven the first time and cached.

    Raises:
        Neo4jUnavailable: Maven is missing or could not get the packages.
    """
    pom = _HERE / f"pom-{version}.xml"
    if not pom.is_file():
        raise Neo4jUnavailable(f"Neo4j {version} has no pom in {_HERE.name}/; there are {', '.join(VERSIONS)}")
    digest = hashlib.sha256(pom.read_bytes()).hexdigest()[:12]
    cached = _CACHE / f"{version}-{digest}.classpath"
    if cached.is_file() and _all_exist(cached.read_text()):
        return cached.read_text()
    maven = shutil.which("mvn")
    if maven is None:
        raise Neo4jUnavailable(f"Neo4j {version} comes through Maven; install mvn")
    _CACHE.mkdir(parents=True, exist_ok=True)
    scratch = cached.with_suffix(f".{os.getpid()}")
    done = subprocess.run(
        [maven, "-q", "-B", "-f", str(pom), _RESOLVER, f"-Dmdep.outputFile={scratch}"],
        env={**os.environ, "JAVA_HOME": str(jdk.home)},
        capture_output=True, text=True, timeout=_RESOLVE_TIMEOUT_S, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise Neo4jUnavailable(f"Maven could not get Neo4j {version}: {done.stdout[-500:]}")
    scratch.replace(cached)
    return cached.read_text()


def _write_settings(folder: Path, port: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    settings = {**_SETTINGS, "server.bolt.listen_address": f"127.0.0.1:{port}"}
    path = folder / "test-server.conf"
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return path


def _all_exist(joined: str) -> bool:
    return all(Path(jar).is_file() for jar in joined.strip().split(os.pathsep))


def _candidate_homes() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home)
    if javac := shutil.which("javac"):
        yield Path(javac).resolve().parents[1]
    for folder in ("/usr/lib/jvm", "/opt", "/opt/java", "/Library/Java/JavaVirtualMachines"):
        for entry in sorted(Path(folder).glob("*")):
            yield entry / "Contents" / "Home" if (entry / "Contents").is_dir() else entry


def _probe(home: Path) -> Jdk | None:
    release = home / "release"
    if not (home / "bin" / "javac").is_file() or not release.is_file():
        return None
    version = re.search(r'JAVA_VERSION="(\d+)', release.read_text())
    return Jdk(home=home.resolve(), major=int(version[1])) if version else None


def _jvm_options(jdk: Jdk, heap_mb: int, *, long_run: bool) -> Sequence[str]:
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
    quiet = ["--enable-native-access=ALL-UNNAMED"] + (
        ["--sun-misc-unsafe-memory-access=allow"] if jdk.major >= 23 else []
    )
    compiler = [] if long_run else ["-XX:TieredStopAtLevel=1"]
    return [*opens, *quiet, *compiler, f"-Xmx{heap_mb}m", "-XX:+UseSerialGC"]


def _await_ready(process: subprocess.Popen[str], version: str) -> int:
    """Return the Bolt port that the server prints; go on reading its output so that it never blocks."""
    assert process.stdout is not None
    tail: deque[str] = deque(maxlen=40)
    watchdog = threading.Timer(_START_TIMEOUT_S, process.kill)
    watchdog.start()
    try:
        for line in process.stdout:
            if line.startswith("READY "):
                threading.Thread(target=_drain, args=(process.stdout,), daemon=True).start()
                return int(line.split()[1])
            tail.append(line)
    finally:
        watchdog.cancel()
    process.wait()
    raise Neo4jUnavailable(f"Neo4j {version} did not come up:\n{''.join(tail)}")


def _drain(stream: IO[str]) -> None:
    try:
        for _ in stream:
            pass
    except ValueError:  # closed by `stop`
        return


def _close_quietly(stream: IO[str]) -> None:
    try:
        stream.close()
    except OSError:
        return
