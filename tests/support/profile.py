"""How large the property, fault and load tests run: small on every run, full size in ``make soak``."""

import math
import os

SHARE = "ROOTWARD_SOAK_SHARE"
"""Environment: which part of the full size a soak has, such as 0.01 to see whether it runs at all; the default is 1."""


def is_soak() -> bool:
    """Tell whether this run is ``make soak``."""
    return os.environ.get("ROOTWARD_TEST_PROFILE") == "soak"


def sized(*, small: int, full: int) -> int:
    """Return ``small`` on ordinary runs and ``full`` in ``make soak``; the same test serves both.

    A soak of a share of the full size is never smaller than an ordinary run.
    """
    if not is_soak():
        return small
    share = float(os.environ.get(SHARE) or 1)
    return max(min(small, full), math.ceil(full * share))
