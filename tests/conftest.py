"""Fixtures and settings that every test may use."""

import pytest
from hypothesis import HealthCheck, settings

from tests.support.profile import is_soak

pytest_plugins = ["tests.support.neo4j_plugin"]

# The same examples on every run, so that a red build is red for everyone; `make soak` looks further.
settings.register_profile(
    "small", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", max_examples=5_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("soak" if is_soak() else "small")


@pytest.fixture
def anyio_backend() -> str:
    """The service runs on asyncio only."""
    return "asyncio"
