"""Commands that watch learning and operate it: dream and jobs."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated

import typer

from api.cli import shown
from api.cli.commands.asking import Agent, As
from api.cli.given import chosen
from graph.rules.jobs import JobState

JobId = Annotated[str, typer.Argument(metavar="ID", help="As `jobs list` shows it.")]
UNDER_WAY = [JobState.QUEUED, JobState.RUNNING, JobState.PARKED]


class Rule(StrEnum):
    """The rules of the lint; named here, because loading what they are made of would slow every command."""

    DATED_NAME = "dated_name"
    NEAR_NAME = "near_name"
    LONG_ENTRY = "long_entry"
    NO_BLOCKS = "no_blocks"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    dream = typer.Typer(no_args_is_help=True, help="How an agent's memory is, what is odd in it, and one more run now.")
    for run in (status, lint, run_now):
        dream.command("run" if run is run_now else run.__name__)(run)
    app.add_typer(dream, name="dream")
    jobs = typer.Typer(no_args_is_help=True, help="Background work: list it, cancel it, let it begin afresh.")
    jobs.command("list")(list_)
    jobs.command("cancel")(cancel)
    jobs.command("release")(release)
    app.add_typer(jobs, name="jobs")


def register_profiles(admin: typer.Typer) -> None:
    """Add the commands about models to those of administration."""
    admin.command("models")(models)
    admin.command("remove-model")(remove_model)


def status(who: As = None, agent: Agent = "") -> None:
    """Show alerts, vectors, both stages of Dreaming, memos, stuck tasks, lint and survival of an agent."""
    from api.cli import watching

    asyncio.run(watching.status(chosen(), who=who, agent=agent, out=shown.out()))


def lint(
    who: As = None,
    agent: Agent = "",
    rule: Annotated[list[Rule] | None, typer.Option(help="Only these; may be given more than once.")] = None,
    most: Annotated[int, typer.Option(min=1, max=100, help="At most so many findings.")] = 20,
) -> None:
    """List dated names, near names, over-long entries and entries without body."""
    from api.cli import watching

    rules = [one.name for one in rule or []]
    asyncio.run(watching.lint(chosen(), who=who, agent=agent, rules=rules, most=most, out=shown.out()))


def run_now(
    who: As = None,
    agent: Agent = "",
    wait: Annotated[bool, typer.Option(help="Follow the run until it has ended.")] = True,
) -> None:
    """Run Stage B of an agent now; for curators."""
    from api.cli import curating

    asyncio.run(curating.run_now(chosen(), who=who, agent=agent, wait=wait, out=shown.out()))


def list_(
    who: As = None,
    agent: Annotated[str, typer.Option("--agent", metavar="AGENT", help="Only the work of this agent.")] = "",
    state: Annotated[list[JobState] | None, typer.Option(help="Only in these; what is under way if not given.")] = None,
) -> None:
    """List background work with the reason why it waits."""
    from api.cli import working

    states = [one.name for one in state or UNDER_WAY]
    asyncio.run(working.jobs(chosen(), who=who, agent=agent, states=states, out=shown.out()))


def cancel(
    id_: JobId,
    reason: Annotated[str, typer.Option(help="A code that others read, such as too_expensive.")],
    who: As = None,
) -> None:
    """End a job until something new asks for its work."""
    from api.cli import working

    asyncio.run(working.change(chosen(), working.CANCEL, who=who, out=shown.out(), id=id_, reason=reason))


def release(id_: JobId, who: As = None) -> None:
    """Let a job that waits or was given up begin afresh now."""
    from api.cli import working

    asyncio.run(working.change(chosen(), working.RELEASE, who=who, out=shown.out(), id=id_))


def models() -> None:
    """List the models that learn, by the names that settings use; `admin model` sets one."""
    from api.cli import working

    asyncio.run(working.profiles(chosen(), shown.out()))


def remove_model(name: Annotated[str, typer.Argument(help="Such as light.")]) -> None:
    """Remove a model; work that needs it waits, and nothing is lost."""
    from api.cli import working

    asyncio.run(working.remove_profile(chosen(), name, shown.out()))
