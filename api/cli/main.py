"""The entry point of `rootward`: one command a file, one line for each failure, no traceback (see `exits`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import typer

from api.cli import exits, shown
from api.cli.commands import register
from graph.model.errors import RootwardError


def main() -> None:
    """Run the command that the process was called with, and exit."""
    os.umask(0o077)  # stores, archives and tokens are for their owner alone
    sys.exit(guarded(make_app()))


def make_app() -> typer.Typer:
    """Return the program with all its commands."""
    app = typer.Typer(
        name="rootward",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_together)
    register(app)
    return app


def _together() -> None:
    """Knowledge service: what was said, what is believed because of it, and who may see either, in one graph."""


def guarded(run: Callable[[], object]) -> int:
    """Run a command and return its exit code; a failure of ours becomes one line on standard error."""
    try:
        run()
    except RootwardError as error:
        return _failed(error)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else exits.DONE if end.code is None else exits.FAULT
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # who read us has seen enough
        return exits.DONE
    except Exception as error:  # noqa: BLE001 - the edge of the process: a command
        return _fault(error)
    return exits.DONE


def _failed(error: RootwardError) -> int:
    shown.aside().print(f"rootward: {error.message} [{error.wire_code}]")
    return exits.exit_code(error)


def _fault(error: BaseException) -> int:
    """Say that this is a bug and where it arose; never what the error says, for it may quote content."""
    from api.observability import frames_of

    shown.aside().print(f"rootward: an unexpected fault, {type(error).__name__}: this is a bug [INTERNAL]")
    if os.environ.get("ROOTWARD_TEST_FRAMES"):
        shown.aside().print("\n".join(frames_of(error)))
    return exits.FAULT
