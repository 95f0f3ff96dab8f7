"""How large the property, fault and load tests run: small on every run, full size in ``make soak``."""

import os


def is_soak() -> bool:
    """Tell whether this run is ``make soak``."""
    return os.environ.get("ROOTWARD_TEST_PROFILE") == "soak"


def sized(*, small: int, full: int) -> int:
    """Return ``small`` on ordinary runs and ``full`` in ``make soak``; the same test serves both."""
    return full if is_soak() else small
