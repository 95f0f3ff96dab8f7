"""The container files, read as data: no engine is needed to see that they hold together."""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import neo4j_server
from tools.requirements import ROOT

COMPOSE = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE)["services"]
    return found


def test_neo4j_api_and_worker_are_started(services: dict[str, dict[str, Any]]) -> None:
    assert set(services) == {"neo4j", "api", "worker"}
    assert (services["api"]["command"], services["worker"]["command"]) == (["serve"], ["worker"])


def test_every_service_has_a_health_check_or_that_of_the_image(services: dict[str, dict[str, Any]]) -> None:
    without = {name for name, service in services.items() if "healthcheck" not in service}
    assert without <= {"api"}
    assert "HEALTHCHECK" in DOCKERFILE


def test_api_and_worker_wait_for_a_healthy_neo4j(services: dict[str, dict[str, Any]]) -> None:
    waits = {name: services[name]["depends_on"]["neo4j"]["condition"] for name in ("api", "worker")}
    assert waits == {"api": "service_healthy", "worker": "service_healthy"}


def test_data_lies_in_named_volumes(services: dict[str, dict[str, Any]]) -> None:
    named = set(yaml.safe_load(COMPOSE)["volumes"])
    used = {volume.split(":")[0] for service in services.values() for volume in service["volumes"]}
    assert used == named


def test_there_is_no_default_password() -> None:
    uses = re.findall(r"\$\{NEO4J_PASSWORD([^}]*)\}", COMPOSE)
    assert uses
    assert all(use.startswith(":?") for use in uses)


def test_the_api_is_reached_from_this_machine_only(services: dict[str, dict[str, Any]]) -> None:
    published = [port for service in services.values() for port in service.get("ports", [])]
    assert published == ["127.0.0.1:${ROOTWARD_PORT:-8000}:8000"]


def test_the_neo4j_of_the_compose_file_is_the_one_that_is_tested(services: dict[str, dict[str, Any]]) -> None:
    assert services["neo4j"]["image"] == f"neo4j:{neo4j_server.CURRENT}-community"


def test_the_service_does_not_run_as_root() -> None:
    users = re.findall(r"^USER (\S+)", DOCKERFILE, re.MULTILINE)
    assert users == ["rootward"]


def test_the_image_gets_every_package_of_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    copied = set(re.findall(r"^COPY (\w+) \./", DOCKERFILE, re.MULTILINE))
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert copied == {*packages, "client"}, "the library is a distribution of its own that the server needs"
    assert {f"!{package}" for package in copied} <= set(ignored)
    assert "./client '.[" in DOCKERFILE


def test_the_image_builds_the_console_itself_from_its_lock_file() -> None:
    assert "RUN npm ci" in DOCKERFILE
    assert "COPY --from=console /src/console/dist ./api/console/dist\n" in DOCKERFILE
    # Before the package is made of it, and after the folder that it lies in is there.
    places = [DOCKERFILE.index(part) for part in ("COPY api ./api", "COPY --from=console", "pip install")]
    assert places == sorted(places)
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {"!console", "!schema.graphql"} <= set(ignored)
    for left in ("api/console/dist*", "console/node_modules"):
        assert ignored.index(left) > max(ignored.index("!api"), ignored.index("!console"))


def test_the_lock_file_of_the_console_names_no_address_and_holds_every_library() -> None:
    folder = ROOT / "console"
    lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
    libraries = {name: one for name, one in lock["packages"].items() if name}
    assert not [name for name, one in libraries.items() if "resolved" in one]
    assert all(one.get("integrity", "").startswith("sha512-") for one in libraries.values())
    wanted = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    pinned = {**wanted["dependencies"], **wanted["devDependencies"]}
    assert {name: libraries[f"node_modules/{name}"]["version"] for name in pinned} == pinned
    # `npm ci` refuses a lock file that lacks what a library of it names, even for another system.
    named = {name for one in libraries.values() for name in one.get("optionalDependencies", {})}
    assert {name for name in named if not any(path.endswith(f"node_modules/{name}") for path in libraries)} == set()


def test_the_server_needs_the_library_of_this_checkout_and_of_no_registry() -> None:
    server = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    library = tomllib.loads((ROOT / "client" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (needed,) = [one for one in server["project"]["dependencies"] if re.match(r"rootward\b", one)]
    assert needed == f"{library['name']}>={library['version'].rpartition('.')[0]}"
    assert server["tool"]["uv"]["sources"] == {"rootward": {"path": "client"}}
    assert "rootward" not in (ROOT / "constraints.txt").read_text(encoding="utf-8")


def copied() -> list[str]:
    """Return what the image is built from, as the COPY lines name it; what comes from another stage is left out."""
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    return [source.rstrip("/") for line in lines for source in line.split()]


def is_left_out(path: str) -> bool:
    """Tell whether the build never sees a file: the last pattern that fits it or a folder it lies in decides."""
    left_out = False
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            parts = re.split(r"(\*\*/|\*)", line.removeprefix("!"))
            wild = {"**/": "(?:.*/)?", "*": "[^/]*"}
            fits = re.fullmatch("".join(wild.get(part) or re.escape(part) for part in parts) + "(?:/.*)?", path)
            left_out = not line.startswith("!") if fits else left_out
    return left_out


@pytest.mark.parametrize("source", copied())
def test_what_the_image_copies_is_in_a_clean_clone_and_reaches_the_build(source: str) -> None:
    listed = subprocess.run(["git", "ls-files", source], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("this is no clone")
    files = listed.stdout.splitlines()
    assert files
    assert not [file for file in files if is_left_out(file)]


@pytest.mark.parametrize(
    "file",
    [
        ".git/config",
        ".venv/bin/python",
        "data/root.key",
        "data/admin.token",
        "tests/conftest.py",
        "console/node_modules/vite/index.js",
        "console/dist/index.html",
        "api/console/dist/index.html",
        "api/console/dist.new/index.html",
        "graph/rules/__pycache__/visibility.cpython-312.pyc",
    ],
)
def test_secrets_tests_and_what_is_built_here_do_not_reach_the_build(file: str) -> None:
    assert is_left_out(file)


def test_the_steps_of_the_image_name_what_is_there() -> None:
    scripts = json.loads((ROOT / "console" / "package.json").read_text(encoding="utf-8"))["scripts"]
    assert set(re.findall(r"npm run (\w+)", DOCKERFILE)) <= set(scripts)
    assert all((ROOT / "console" / script).is_file() for script in re.findall(r"node (\S+\.mjs)", DOCKERFILE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (extras,) = re.findall(r"'\.\[([\w,]+)\]'", DOCKERFILE)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    (entry,) = re.findall(r'^ENTRYPOINT \["(\w+)"\]', DOCKERFILE, re.MULTILINE)
    assert entry in project["scripts"]


def test_every_variable_of_the_compose_file_is_explained() -> None:
    page = (ROOT / "docs" / "how-to" / "connect-neo4j.md").read_text(encoding="utf-8")
    used = set(re.findall(r"\$\{(\w+)", COMPOSE))
    assert "NEO4J_PASSWORD" in used
    assert not {name for name in used if name not in page}


@pytest.mark.parametrize("name", ["constraints.txt", "pyproject.toml", "Dockerfile", "docker-compose.yml"])
def test_no_file_names_a_registry_address(name: str) -> None:
    text = Path(ROOT / name).read_text(encoding="utf-8")
    assert not re.search(r"index-url|find-links|https?://(?!127\.0\.0\.1)", text)
