"""What a server or a command that serves no agent never loads."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["api.bootstrap", "api.cli.main"])
def test_the_sdk_is_not_loaded_before_somebody_asks(module: str) -> None:
    code = f"import sys, {module}; sys.exit('mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
