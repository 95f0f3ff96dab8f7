"""Commands of administration about Skills and who has them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from api.cli import shown
from api.cli.given import chosen

Slug = Annotated[str, typer.Argument(metavar="SLUG", help="The short name of the Skill, such as release-notes.")]
Agent = Annotated[str, typer.Argument(metavar="AGENT")]


def register(admin: typer.Typer) -> None:
    """Add the commands to `rootward admin`."""
    skill = typer.Typer(no_args_is_help=True, help="Skills, and the agents that have them.")
    skill.command("set")(set_)
    skill.command("list")(list_)
    skill.command("enable")(enable)
    skill.command("disable")(disable)
    admin.add_typer(skill, name="skill")


def set_(
    slug: Slug,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Its base text, in UTF-8.")],
    name: Annotated[str, typer.Option(help="The name that people read.")],
) -> None:
    """Make a Skill, or give it another name or its next base text."""
    from api.cli.administering_skills import provision

    asyncio.run(provision(chosen(), shown.out(), slug=slug, name=name, file=file))


def list_() -> None:
    """List the Skills of the workspace."""
    from api.cli.administering_skills import list_all

    asyncio.run(list_all(chosen(), shown.out()))


def enable(agent: Agent, slug: Slug) -> None:
    """Enable a Skill for an agent."""
    from api.cli.administering_skills import enable as run

    asyncio.run(run(chosen(), shown.out(), agent, slug, enabled=True))


def disable(agent: Agent, slug: Slug) -> None:
    """Disable a Skill for an agent; its lessons are kept."""
    from api.cli.administering_skills import enable as run

    asyncio.run(run(chosen(), shown.out(), agent, slug, enabled=False))
