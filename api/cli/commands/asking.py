"""Commands that ask: ask, compare, dreams, withdraw, return."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from api.cli import shown
from api.cli.given import chosen

As = Annotated[str | None, typer.Option("--as", metavar="NAME", help="Who asks: NAME.token in the data directory.")]
Agent = Annotated[str, typer.Option(metavar="NAME", help="Whose knowledge; needed if you read that of several agents.")]
Most = Annotated[int, typer.Option(min=1, max=50, help="At most so many results.")]
Ref = Annotated[str, typer.Argument(metavar="SOURCE", help="An id, or a name of the sample: document:lab-report.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("ask")(ask)
    app.command("compare")(compare)
    app.command("dreams")(dreams)
    app.command("withdraw")(withdraw)
    app.command("return")(give_back)


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    who: As = None,
    agent: Agent = "",
    trace: Annotated[bool, typer.Option("--trace", help="Show the words that each statement rests on.")] = False,
    most: Most = 5,
) -> None:
    """Ask what is known, as somebody; with --trace down to the messages behind it."""
    from api.cli import asking

    asyncio.run(asking.ask(chosen(), question, who=who, agent=agent, trace=trace, most=most, out=shown.out()))


def compare(
    question: Annotated[str, typer.Argument(help="What both ask.")],
    first: Annotated[str, typer.Option("--as", metavar="NAME", help="The first of the two.")],
    second: Annotated[str, typer.Option("--with", metavar="NAME", help="The second.")],
    agent: Agent = "",
    most: Most = 5,
) -> None:
    """Ask the same as two people; see what only one of them sees, and why."""
    from api.cli import asking

    asyncio.run(asking.compare(chosen(), question, first=first, second=second, agent=agent, most=most, out=shown.out()))


def dreams(
    who: As = None,
    agent: Agent = "",
    run: Annotated[bool, typer.Option("--run", help="Ask for a run of Stage B now; for curators.")] = False,
    most: Most = 20,
) -> None:
    """Show what an agent dreamed, what the model proposed that was refused, and why."""
    from api.cli import dreaming

    asyncio.run(dreaming.dreams(chosen(), who=who, agent=agent, run=run, most=most, out=shown.out()))


def withdraw(
    ref: Ref,
    who: As = None,
    reason: Annotated[str, typer.Option(help="Why; it is kept in the audit.")] = "withdrawn by the command line",
    restore: Annotated[bool, typer.Option("--restore", help="Take it back at the end.")] = False,
) -> None:
    """Withdraw a source: see what vanishes and why, and what stays."""
    from api.cli import withdrawing

    asyncio.run(withdrawing.withdraw(chosen(), ref, who=who, reason=reason, restore=restore, out=shown.out()))


def give_back(
    ref: Ref,
    reason: Annotated[str, typer.Option(help="Why; it is kept in the audit.")] = "returned by the command line",
) -> None:
    """Take a withdrawn source back."""
    from api.cli import withdrawing

    asyncio.run(withdrawing.give_back(chosen(), ref, reason=reason, out=shown.out()))
