"""What a start prints: address, tokens, three things to try, and what is not there without a model (AD-43 to AD-45)."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from api.cli.places import Signed, read_sample, signed
from api.cli.words import counted
from api.console.routes import is_there
from api.sample.recording import RECORDED
from api.sample.story import ThingsToTry, load_story
from api.settings import Settings
from graph.rules.model_reasons import advice_on

PROFILE = "admin model light --provider openai --model NAME --credential env:OPENAI_API_KEY"
WITHOUT_A_MODEL = (
    "Not there without a model: learning from your own text. Messages and documents are kept, shown and searched; what",
    "is believed because of them is written by people and agents (applyOperations). One setting turns learning on, the",
    "model profile `light`:",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Welcome:
    """What there is to say.

    Attributes:
        address: where the server listens.
        taken: the port that it should have had and that another program has; None otherwise.
        console: whether there is one to look at; None where it is switched off.
        place: of the data, for people to read.
        command: how this program is called from the same folder.
        people: whose tokens lie in files.
        told: keys of those whose token is printed too: on a terminal everybody's (AD-14), elsewhere, if that is wanted,
            those of the sample (AD-43).
        things: to try, if there is a sample.
        dreamed: what the sample's agent dreamed; empty without a sample.
        light: the model that learns from people's own text; None without one.
    """

    address: str
    taken: int | None
    console: bool | None
    place: str
    command: str
    people: Sequence[Signed]
    told: Collection[str]
    things: ThingsToTry | None
    dreamed: Mapping[str, Any]
    light: str | None

    def lines(self) -> list[str]:
        """Return the lines to print."""
        found = [
            f"Rootward is running at {self.address}" + (f" (port {self.taken} is taken)" if self.taken else ""),
            *self._console(),
            f"  GraphQL: {self.address}/graphql",
            f"  Data:    {self.place}",
        ]
        if self.people:
            found += ["", "Tokens, in files that only you can read:", *self._tokens()]
        if self.dreamed:
            found += ["", *self._dreamed()]
        if self.things is not None:
            found += ["", "Three things to try, from another terminal in this folder:", *self._things(self.things)]
        return [*found, "", *self._learning(), "", "Ctrl+C ends it."]

    def _console(self) -> list[str]:
        if self.console is None:
            return []
        there = f"{self.address}/console/ (sign in with a token)"
        return [f"  Console: {there if self.console else 'not built; in a checkout `make console` builds it'}"]

    def _dreamed(self) -> list[str]:
        told, names = self.dreamed, counted
        brought = ", ".join(
            (
                f"{names(told['episodes'], 'episode')} of talk",
                f"{names(told['operations'], 'statement')} written or changed",
                f"{names(told['skill_updates'], 'lesson')} learned",
                f"{names(told['rejected'], 'proposal')} of the model rejected",
            )
        )
        lines = [f"Its agent has dreamed about the sample: {brought}."]
        if told["model"] == RECORDED:
            return [*lines, "The answers of the model were recorded beforehand (written by hand); no model was asked."]
        lines.append(f"The model that was asked is {told['model']}.")
        if told["unfinished"]:
            codes = dict.fromkeys(told["unfinished"])
            lines.append("Not all of it came to an end; the rest is tried again in the background:")
            lines += [f"     {code}: {advice_on(code) or 'it is tried again later'}" for code in codes]
        return lines

    def _learning(self) -> list[str]:
        if self.light is not None:
            return [f"Learning from your own text is on: profile `light`, {self.light}."]
        return [*WITHOUT_A_MODEL, f"     {self.command} {PROFILE}"]

    def _tokens(self) -> list[str]:
        key, about, file = (
            max(len(str(getattr(one, name))) for one in self.people) for name in ("key", "about", "file")
        )
        shown = (f"  {one.key:<{key}}  {one.about:<{about}}  {one.file!s:<{file}}" for one in self.people)
        tokens = (one.token if one.key in self.told else "" for one in self.people)
        return [f"{line}  {token}".rstrip() for line, token in zip(shown, tokens, strict=True)]

    def _things(self, things: ThingsToTry) -> list[str]:
        trace, compare = things.trace, things.compare
        ask = f"ask {shlex.quote(trace.question)} --as {trace.viewer} --trace"
        both = f"compare {shlex.quote(compare.question)} --as {compare.sees_more} --with {compare.sees_less}"
        return [
            "  1. Ask a question, and trace the answer to the messages behind it; some was learned while dreaming:",
            f"     {self.command} {ask}",
            "  2. Ask the same as two people; one of them sees less:",
            f"     {self.command} {both}",
            "  3. Withdraw a source, see what vanishes and why, and restore it:",
            f"     {self.command} withdraw {things.withdraw.source} --restore",
        ]


def welcome(
    settings: Settings,
    address: str,
    *,
    environ: Mapping[str, str],
    on_terminal: bool = False,
    tokens: bool = False,
    light: str | None = None,
) -> Welcome:
    """Return what a start of a server at `address` prints.

    Args:
        settings: in force.
        address: where it listens.
        environ: the variables of the process.
        on_terminal: only somebody at a terminal reads it.
        tokens: print those of the sample's people wherever it goes.
        light: the model that learns from people's own text.
    """
    sample, people = read_sample(settings.data_dir), signed(settings.data_dir)
    return Welcome(
        address=address,
        taken=_taken(settings, address),
        console=is_there(settings) if settings.console.enabled else None,
        place=_place(settings),
        command=command_line(environ),
        people=people,
        told={one.key for one in people} if on_terminal else frozenset(sample["people"] if tokens else ()),
        things=load_story().things_to_try if sample["ids"] else None,
        dreamed=sample["dreamed"],
        light=light,
    )


def _taken(settings: Settings, address: str) -> int | None:
    wanted, got = settings.server.port, urlsplit(address).port
    return wanted if got and wanted not in (0, got) else None


def command_line(environ: Mapping[str, str]) -> str:
    """Return how this program is called from the same folder, with the variables that it needs to find its data."""
    needed = [f"{name}={shlex.quote(environ[name])}" for name in _FINDS if name in environ]
    return " ".join([*needed, _program()])


_FINDS = ("ROOTWARD_CONFIG", "ROOTWARD_DATA_DIR", "ROOTWARD_STORE__URL")


def _program() -> str:
    called = Path(sys.argv[0])
    on_path = shutil.which("rootward")
    if on_path is not None and called.exists() and os.path.samefile(on_path, called):
        return "rootward"
    try:
        return shlex.quote(str(called.absolute().relative_to(Path.cwd())))
    except ValueError:
        return shlex.quote(str(called))


def _place(settings: Settings) -> str:
    if settings.store.url.startswith("embedded:"):
        return str(settings.data_dir)
    return f"{settings.store.url} (files: {settings.data_dir})"
