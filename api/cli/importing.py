"""`rootward import`: chats of other programs through the service, with a bar; doing it again changes nothing (KN-65).

The export is read twice: first to see whether all of it is sound, who speaks where and how much there is, then to send
it. So a file that is damaged somewhere stops the import before anything is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path
from typing import Any

from rich.console import Console

from api.cli import places, shown
from api.cli.administering import mint
from api.cli.given import Chosen
from api.cli.link import Link, linked
from api.cli.naming import principal
from api.cli.shown import Bar
from api.cli.words import counted
from api.importers.model import ChannelKind, ImportedMessage, ImportTally
from api.importers.read import Form, detect_form, read_export
from graph.model.errors import BadInput, NotFound
from graph.model.time import render_said
from graph.services.knowledge.importing import local_id_of

BATCH = 500
BATCH_BYTES = 600_000
KINDS: Mapping[ChannelKind, str] = {"shared_channel": "SHARED_CHANNEL", "private_chat": "PRIVATE_CHAT"}

CHANNEL = """
mutation($agent: ID!, $kind: ChannelKind!, $name: String!, $speakers: [String!]!) {
  importChannel(agentId: $agent, kind: $kind, name: $name, speakers: $speakers) {
    channelId speakers { name principalId }
  }
}"""
MESSAGES = """
mutation($channel: ID!, $messages: [ImportedMessageInput!]!) {
  importMessages(channelId: $channel, messages: $messages) { stored unchanged newVersions }
}"""
GRANT = "mutation($who: ID!, $right: Right!, $on: ID!) { grantRight(principalId: $who, right: $right, objectId: $on) }"
AGENTS = "{ owners(first: 100) { edges { node { id displayName } } } }"


@dataclass(frozen=True, kw_only=True, slots=True)
class Export:
    """What is imported, and how it is read."""

    path: Path
    form: Form
    timezone: tzinfo | None

    def messages(self, tally: ImportTally) -> Iterator[ImportedMessage]:
        """Yield the messages."""
        return read_export(self.path, form=self.form, timezone=self.timezone, tally=tally)


@dataclass(kw_only=True, slots=True)
class Survey:
    """What the first reading saw: the channels with their people, in order, and how many messages there are.

    Attributes:
        last: place of the last occurrence of each message. An export may hold a message before and after an edit;
            only the last is sent, for else every further import would make both versions again.
    """

    tally: ImportTally
    last: dict[tuple[str, str], int] = field(default_factory=dict)
    kinds: dict[str, ChannelKind] = field(default_factory=dict)
    people: dict[str, dict[str, None]] = field(default_factory=dict)

    @property
    def speakers(self) -> set[str]:
        """Everybody who is no program."""
        return {speaker for people in self.people.values() for speaker in people}

    def note(self, place: int, message: ImportedMessage) -> None:
        """Take a message into account."""
        self.last[message.channel, message.external_id] = place
        self.kinds.setdefault(message.channel, message.channel_kind)
        people = self.people.setdefault(message.channel, {})
        if not message.speaker_is_agent:
            people.setdefault(message.speaker)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A channel here, and who its speakers are."""

    id: str
    speakers: Mapping[str, str]


async def import_chat(
    chosen: Chosen,
    path: Path,
    *,
    form: Form | None,
    agent: str,
    timezone: tzinfo | None,
    sign_in: Sequence[str],
    role: str,
    out: Console,
) -> None:
    """Import an export and print what became of it.

    Args:
        chosen: the settings.
        path: a file, a folder or a zip.
        form: None to find out.
        agent: whose channels they become; made if it is not there; empty for the only one there is.
        timezone: for dates without one.
        sign_in: speakers who get a token in a file, and a role for the agent's knowledge.
        role: that role, reader or curator.
        out: takes the summary.

    Raises:
        ImportInvalid: the export is damaged; nothing was written.
    """
    export = Export(path=path, form=form or detect_form(path), timezone=timezone)
    with shown.bar(f"Reading {path.name}") as bar:
        survey = _survey(export, bar)
    unknown = [name for name in sign_in if name not in survey.speakers]
    if unknown:
        raise BadInput("sign in somebody who speaks in this export", field="sign_in")
    async with linked(chosen) as link:
        token = link.token()
        agent_id, agent_name = await _agent(link, token, agent)
        made = {name: await _place(link, token, agent_id, survey, name) for name in survey.kinds}
        with shown.bar("Loading messages") as bar:
            counts = await _send(link, token, export, made, survey.last, bar)
        out.print(_summary(export, survey, counts, agent_name))
        for name in sign_in:
            out.print(await _sign_in(link, made, name, agent_id, role))
        if survey.speakers and not sign_in:
            out.print("  readable for those who take part; --sign-in SPEAKER lets one of them ask")


def _survey(export: Export, bar: Bar) -> Survey:
    tally = ImportTally()
    survey = Survey(tally=tally)
    for place, message in enumerate(export.messages(tally)):
        survey.note(place, message)
        if tally.messages % 1_000 == 0:
            bar(tally.messages, 0)
    return survey


async def _agent(link: Link, token: str, name: str) -> tuple[str, str]:
    """Return the agent whose channels the messages become, made if it was named and is not there."""
    owners = [edge["node"] for edge in (await link.run(AGENTS, token=token))["owners"]["edges"]]
    if not name:
        if len(owners) != 1:
            raise BadInput(f"there are {len(owners)} agents: name one with --agent, new or not", field="agent")
        return owners[0]["id"], owners[0]["displayName"]
    for owner in owners:
        if name in (owner["id"], owner["displayName"]):
            return owner["id"], owner["displayName"]
    local = name.removeprefix("agent:")
    try:
        return await principal(link, token, f"agent:{local}"), local
    except NotFound:
        found = await link.run(
            "mutation($name: String!, $id: String!) { createAgent(displayName: $name, localId: $id) { id } }",
            token=token,
            name=local,
            id=local,
        )
        return str(found["createAgent"]["id"]), local


async def _place(link: Link, token: str, agent: str, survey: Survey, name: str) -> Place:
    found = await link.run(
        CHANNEL, token=token, agent=agent, kind=KINDS[survey.kinds[name]], name=name, speakers=list(survey.people[name])
    )
    place = found["importChannel"]
    return Place(id=place["channelId"], speakers={one["name"]: one["principalId"] for one in place["speakers"]})


async def _send(
    link: Link,
    token: str,
    export: Export,
    made: Mapping[str, Place],
    last: Mapping[tuple[str, str], int],
    bar: Bar,
) -> Counter[str]:
    """Send all messages, channel by channel in batches, and return how many came to what."""
    counts: Counter[str] = Counter()
    waiting: dict[str, list[dict[str, Any]]] = {name: [] for name in made}
    sizes: Counter[str] = Counter()

    async def flush(channel: str) -> None:
        messages, waiting[channel] = waiting[channel], []
        sizes[channel] = 0
        if messages:
            found = await link.run(MESSAGES, token=token, channel=made[channel].id, messages=messages)
            counts.update(found["importMessages"])
            bar(counts.total(), len(last))

    for at, message in enumerate(export.messages(ImportTally())):
        if last[message.channel, message.external_id] != at:
            continue
        size = len(message.text.encode("utf-8", "surrogatepass")) + 400
        if len(waiting[message.channel]) >= BATCH or sizes[message.channel] + size > BATCH_BYTES:
            await flush(message.channel)
        waiting[message.channel].append(_input(message, made[message.channel]))
        sizes[message.channel] += size
    for channel in made:
        await flush(channel)
    return counts


def _input(message: ImportedMessage, place: Place) -> dict[str, Any]:
    return {
        "conversation": message.conversation_key,
        "message": {
            "externalId": message.external_id,
            "sentAt": render_said(message.sent_at, message.sent_offset),
            "text": message.text,
            "speaker": message.speaker,
            "speakerId": None if message.speaker_is_agent else place.speakers.get(message.speaker),
            "speakerIsAgent": message.speaker_is_agent,
            "thread": message.thread,
        },
    }


async def _sign_in(link: Link, made: Mapping[str, Place], name: str, agent: str, role: str) -> str:
    """Give a speaker a role and a token in a file; return a line that says where."""
    id_ = next(place.speakers[name] for place in made.values() if name in place.speakers)
    await link.run(GRANT, token=link.token(), who=id_, right=role.upper(), on=agent)
    key = local_id_of(name)
    file = places.token_file(link.chosen.settings.data_dir, key)
    if not file.exists():
        places.write_private(file, await mint(link, id_, days=365) + "\n")
    return f"{name} is {role} and signs in with {file}: --as {key}"


def _summary(export: Export, survey: Survey, counts: Counter[str], agent: str) -> str:
    tally = survey.tally
    what = f"{counted(tally.messages, 'message')} in {counted(len(survey.kinds), 'channel')} of {agent}"
    lines = [
        f"{export.path.name} ({export.form.value}): {what}",
        f"  new {counts['stored']}, known {counts['unchanged']}, edited {counts['newVersions']}",
    ]
    lines += [f"  left out {count}: {reason.replace('_', ' ')}" for reason, count in sorted((+tally.skipped).items())]
    lines += [f"  {reason.replace('_', ' ')}: {count}" for reason, count in sorted((+tally.noted).items())]
    if tally.messages > len(survey.last):
        lines.append(f"  {tally.messages - len(survey.last)} were there again later in the file; the last one counts")
    if tally.assumed_dates:
        lines.append(f"  {tally.assumed_dates} dates without a zone were read in {tally.assumed_timezone}")
    return "\n".join(lines)
