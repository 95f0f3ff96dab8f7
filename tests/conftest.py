"""Fixtures and settings that every test may use."""

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, settings

from tests.support.graphs import law_graphs
from tests.support.profile import is_soak, sized

pytest_plugins = ["tests.support.neo4j_plugin"]

# The same examples on every run, so that a red build is red for everyone; `make soak` looks further.
settings.register_profile(
    "small", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "soak",
    max_examples=sized(small=60, full=5_000),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("soak" if is_soak() else "small")


@pytest.hookimpl(tryfirst=True)  # before pytest looks at `-m soak`
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Mark the tests that grow in a soak: those of a module that names a size, and those with drawn examples."""
    for item in items:
        if _grows(item):
            item.add_marker(pytest.mark.soak)


def _grows(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function):
        return False
    drawn = hasattr(item.obj, "hypothesis") or hasattr(item.cls, "settings")  # the latter: a state machine
    return drawn or any(value in (sized, law_graphs) for value in vars(item.module).values() if callable(value))


@pytest.fixture
def anyio_backend() -> str:
    """The service runs on asyncio only."""
    return "asyncio"
