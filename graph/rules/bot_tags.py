"""Tags of bot memory: which belong to the service, their order, who they admit, and what conclusions carry on.

A service tag has a colon and is set by the service alone; the rest are topics. Public tags carry local ids
(``for:person:u_1``), rules carry internal ones (``person:prn_w/human/u_1``). Source: BM-24 to BM-59.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from graph.model.access import Clause, Rule, RuleKind, for_rule
from graph.model.ids import NodeId, WorkspaceId, hosted_id, local_part
from graph.model.nodes.people import Group, Organization, Principal

FROM: Final = "from:"
FOR_PERSON: Final = "for:person:"
FOR_CHANNEL: Final = "for:channel:"
FOR_BOT: Final = "for:bot"
ORG: Final = "org:"
CHAT: Final = "chat:"
CHANNEL: Final = "channel:"
APP: Final = "app:"
MAX_TOPICS: Final = 20

PURGED_BY: Final = (FROM, CHAT, ORG, CHANNEL)
"""Kinds of tags that a purge takes (BM-154)."""

_ORDER: Final = (FROM, "for:", ORG, CHAT, CHANNEL, APP)
_CARRIED: Final = (FROM, CHAT, CHANNEL, ORG, APP)
_TOPIC: Final = re.compile(r"[a-z0-9-]{1,64}")


def in_order(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags, each once, as the contract orders them (BM-33).

    >>> in_order(["trip", "org:o_4", "for:bot", "from:u_2", "from:u_1"])
    ('from:u_1', 'from:u_2', 'for:bot', 'org:o_4', 'trip')
    """
    return tuple(sorted(set(tags), key=lambda tag: (_group(tag), tag)))


def is_service(tag: str) -> bool:
    """True for a tag that only the service sets (BM-24)."""
    return ":" in tag


def is_known(tag: str) -> bool:
    """True for a topic, and for a service tag of a known kind that names something."""
    if not is_service(tag):
        return is_topic(tag)
    kinds = (FROM, FOR_PERSON, FOR_CHANNEL, ORG, CHAT, CHANNEL, APP)
    return tag == FOR_BOT or any(tag.startswith(kind) and tag != kind for kind in kinds)


def is_topic(tag: str) -> bool:
    """True for a topic as BM-31 allows it.

    >>> is_topic("trip-planning"), is_topic("Trip"), is_topic("for:bot")
    (True, False, False)
    """
    return _TOPIC.fullmatch(tag) is not None


def kept_topics(proposed: Iterable[str]) -> tuple[str, ...]:
    """Return what counts of the topics that a model named: valid ones, each once, the first twenty (BM-25, BM-32).

    >>> kept_topics(["trip", "for:bot", "Trip", "trip", "rain"])
    ('trip', 'rain')
    """
    return tuple(dict.fromkeys(topic for topic in proposed if is_topic(topic)))[:MAX_TOPICS]


def renamed(tags: Collection[str], old: str, new: str) -> tuple[str, ...] | None:
    """Return the tags with one topic in place of another; None if it is not among them, or either is no topic (BM-92).

    >>> renamed(["org:o", "rain", "trip"], "trip", "rain"), renamed(["org:o"], "org:o", "trip")
    (('org:o', 'rain'), None)
    """
    if old not in tags or not is_topic(old) or not is_topic(new):
        return None
    return in_order(new if tag == old else tag for tag in tags)


def topics_of(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the topics among the tags."""
    return tuple(tag for tag in tags if not is_service(tag))


def service_of(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the service tags among the tags."""
    return tuple(tag for tag in tags if is_service(tag))


def audience_of(tags: Iterable[str]) -> frozenset[str]:
    """Return the `for:` tags among the tags."""
    return frozenset(tag for tag in tags if tag.startswith("for:"))


def is_private(tags: Iterable[str]) -> bool:
    """True if the tags admit one person and nobody else."""
    audience = audience_of(tags)
    return len(audience) == 1 and all(tag.startswith(FOR_PERSON) for tag in audience)


def organizations_of(tags: Iterable[str]) -> frozenset[str]:
    """Return the `org:` tags among the tags."""
    return frozenset(tag for tag in tags if tag.startswith(ORG))


def carried(sources: Iterable[Iterable[str]]) -> frozenset[str]:
    """Return the tags that a conclusion has from its sources, given the tags of each (BM-34)."""
    return frozenset(tag for tags in sources for tag in tags if tag.startswith(_CARRIED))


def common_audience(sources: Sequence[Collection[str]]) -> frozenset[str]:
    """Return the `for:` tags common to all sources of an observation, given the tags of each (BM-59).

    `for:bot` counts as every tag, but stays only if all have it; a person's tag wins over a channel's, for the check
    of the sources asks whether he is a member. Nothing is left, and the change is dropped, without a source, without
    a common reader, and where two organizations come together.

    >>> sorted(common_audience([{"for:person:a", "org:o"}, {"for:channel:c", "org:o"}, {"for:bot", "org:o"}]))
    ['for:person:a']
    """
    if not sources or len({org for tags in sources for org in organizations_of(tags)}) > 1:
        return frozenset()
    each = [audience_of(tags) for tags in sources]
    return frozenset(tag for tag in frozenset().union(*each) if all(_grants(tags, tag) for tags in each))


def for_tag(rule: Rule) -> str:
    """Return the `for:` tag of those whom the rule of an item admits (BM-40).

    >>> for_tag(Rule(RuleKind.CHANNEL, "grp_w//ch_5"))
    'for:channel:ch_5'
    """
    if rule.kind is RuleKind.BOT:
        return FOR_BOT
    return (FOR_PERSON if rule.kind is RuleKind.PERSON else FOR_CHANNEL) + local_part(rule.object_id)


def audience_of_items(rules: Iterable[Rule | None]) -> frozenset[str]:
    """Return the `for:` tag that all items of a fact admit, none if there is none (BM-58, BM-83).

    `bot` yields to the narrower rule, and a channel to one person, whose membership the check of the sources asks.
    """
    given = list(rules)
    if not given or any(rule is None for rule in given):
        return frozenset()
    found = common_audience([{for_tag(rule)} for rule in given if rule is not None])
    return found if len(found) == 1 else frozenset()


def item_rule(*, operator: NodeId | None, group: NodeId | None, open_to_all: bool, bot: NodeId) -> Rule | None:
    """Return the access rule of an item, which stands on the links to it (BM-39, BM-40).

    Args:
        operator: saved with the turn; without him there is no access proof (BM-83).
        group: of a group chat.
        open_to_all: the host declared the turn open to all users of the bot.
        bot: whose pool it is; of a linked bot its home.
    """
    if operator is None:
        return None
    if open_to_all:
        return Rule(RuleKind.BOT, bot)
    return Rule(RuleKind.PERSON, operator) if group is None else Rule(RuleKind.CHANNEL, group)


def own_rules(workspace: WorkspaceId, bot: NodeId, tags: Collection[str]) -> Clause | None:
    """Return the own rule of an entry: one of its `for:` tags, its organization, and the use of its bot.

    None, which hides it from everyone, without a `for:` tag and with no or several organizations (BM-35, BM-38).

    Raises:
        BadInput: a tag names what cannot be the local id of anything.
    """
    audience, organizations = audience_of(tags), organizations_of(tags)
    if not audience or len(organizations) != 1:
        return None
    (organization,) = organizations
    return frozenset(
        {
            for_rule(_alternative(workspace, bot, tag) for tag in audience),
            Rule(RuleKind.ORG, organization_id(workspace, organization.removeprefix(ORG))),
            Rule(RuleKind.BOT, bot),
        }
    )


def audience_rule(workspace: WorkspaceId, bot: NodeId, tag: str) -> Rule:
    """Return whom a `for:` tag names, as the rule of an item that admits exactly these.

    Raises:
        BadInput: the tag names what cannot be the local id of anything.
    """
    if tag == FOR_BOT:
        return Rule(RuleKind.BOT, bot)
    if tag.startswith(FOR_PERSON):
        return Rule(RuleKind.PERSON, person_id(workspace, tag.removeprefix(FOR_PERSON)))
    return Rule(RuleKind.CHANNEL, group_id(workspace, tag.removeprefix(FOR_CHANNEL)))


def may_widen(rules: Collection[Rule | None], audience: Rule, groups: Collection[NodeId] = ()) -> bool:
    """True if every item and pinned entry that an entry rests on admits the whole new audience (BM-53).

    Args:
        rules: of everything reached; None is a missing proof, and none at all rests on nothing.
        audience: whom the entry is to be shown to: PERSON, CHANNEL or BOT.
        groups: of which the person of the audience is a member now.
    """
    return bool(rules) and all(rule is not None and _admits(rule, audience, groups) for rule in rules)


def person_id(workspace: WorkspaceId, local: str) -> NodeId:
    """Return the id of a person by his local id."""
    return hosted_id(Principal.PREFIX, workspace, local, container="human")


def group_id(workspace: WorkspaceId, local: str) -> NodeId:
    """Return the id of a channel group by its local id."""
    return hosted_id(Group.PREFIX, workspace, local)


def organization_id(workspace: WorkspaceId, local: str) -> NodeId:
    """Return the id of an organization by its local id."""
    return hosted_id(Organization.PREFIX, workspace, local)


def _group(tag: str) -> int:
    return next((place for place, kind in enumerate(_ORDER) if tag.startswith(kind)), len(_ORDER))


def _grants(tags: Collection[str], tag: str) -> bool:
    """True if the audience of a source covers a `for:` tag."""
    if tag in tags:
        return True
    if tag == FOR_BOT:
        return False
    return FOR_BOT in tags or (tag.startswith(FOR_PERSON) and any(one.startswith(FOR_CHANNEL) for one in tags))


def _alternative(workspace: WorkspaceId, bot: NodeId, tag: str) -> str:
    rule = audience_rule(workspace, bot, tag)
    return f"{rule.kind.name.lower()}:{rule.object_id}"


def _admits(rule: Rule, audience: Rule, groups: Collection[NodeId]) -> bool:
    if rule.kind is RuleKind.BOT or rule == audience:
        return True
    return rule.kind is RuleKind.CHANNEL and audience.kind is RuleKind.PERSON and rule.object_id in groups
