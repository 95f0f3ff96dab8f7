"""Provisioning of Skills and of who has them (AD-18): the base text is a host's alone, lessons never change it (SK-3).

Enabling makes the agent's one Overlay (SK-2); disabling keeps it (SK-17).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from graph.model.access import Rule, RuleKind
from graph.model.edges import Edge, EdgeType
from graph.model.errors import BadInput, LimitExceeded, NotFound, OperationRejected
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.learning import Skill, SkillOverlay
from graph.model.nodes.people import Principal, PrincipalKind
from graph.rules.admin_chain import AdminOperation
from graph.rules.explicit import explicit_id
from graph.rules.ingest import content_hash
from graph.rules.operations.skills import overlay_id
from graph.rules.pools import clause_of, new_base
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.guards import put_alone
from graph.services.access.people import ADMINISTRATION, find_one
from graph.services.knowledge.bases import ensure_base
from graph.services.learning.learned import enabled_skills, is_slug, skill_id

MAX_NAME: Final = 200
MAX_BASE_TEXT: Final = 200_000


async def provision_skill(cmd: Command, slug: str, name: str, base_text: str) -> Skill:
    """Make a Skill, or give it another name or its next base text; the same again changes nothing.

    Raises:
        Forbidden: no admin.
        BadInput, LimitExceeded: a slug, name or text that cannot be taken.
    """
    cmd.require_admin()
    _check(slug, name, base_text)
    id_ = skill_id(cmd.caller.workspace, slug)
    await cmd.writer.lock([id_, cmd.caller.workspace_node])
    found = (await cmd.writer.get(ADMINISTRATION, [id_])).get(id_)
    if not isinstance(found, Skill):
        made = Skill(
            id=id_,
            workspace=cmd.caller.workspace,
            created_at=cmd.at,
            slug=slug,
            name=name.strip(),
            base_text=base_text,
            base_hash=content_hash(base_text),
        )
        await put_alone(cmd.writer, made, frozenset({Rule(RuleKind.WORKSPACE, made.workspace)}))
    else:
        made = _next(found, name.strip(), base_text)
        if made == found:
            return found
        fields = ("name", "base_text", "base_version", "base_hash")
        await cmd.writer.patch(id_, {field: getattr(made, field) for field in fields})
    await record_admin(cmd, AdminOperation.SKILL_SET, id_, {"version": made.base_version, "hash": made.base_hash})
    return made


async def set_skill_enabled(cmd: Command, agent_id: NodeId, slug: str, enabled: bool) -> SkillOverlay:
    """Enable or disable a Skill for an agent and return the agent's Overlay on it, whose lessons stay either way.

    Raises:
        Forbidden: no admin.
        NotFound: no such agent.
        OperationRejected: ``SKILL_NOT_FOUND``.
    """
    cmd.require_admin()
    agent = await find_one(cmd, explicit_id(agent_id, "agentId"), Principal)
    if agent.kind != PrincipalKind.AGENT:
        raise NotFound
    id_ = skill_id(agent.workspace, slug) if is_slug(slug) else None
    skill = (await cmd.writer.get(ADMINISTRATION, [id_])).get(id_) if id_ else None
    if not isinstance(skill, Skill):
        raise OperationRejected("SKILL_NOT_FOUND", "provision the Skill first")
    overlay = await _ensure_overlay(cmd, agent, skill)
    if enabled is not (skill.id in await enabled_skills(cmd.writer, agent.id)):
        await cmd.writer.link(
            [Edge(type=EdgeType.ENABLES, source=agent.id, target=skill.id, props={"enabled": enabled})]
        )
        operation = AdminOperation.SKILL_ENABLE if enabled else AdminOperation.SKILL_DISABLE
        await record_admin(cmd, operation, skill.id, {"agent": agent.id})
    return overlay


def _check(slug: str, name: str, base_text: str) -> None:
    if not is_slug(slug):
        raise BadInput("a slug has 1 to 64 characters of a-z, 0-9, - and _, a letter or digit first", field="slug")
    if not name.strip():
        raise BadInput("give a name", field="name")
    for field, text, limit in (("name", name, MAX_NAME), ("baseText", base_text, MAX_BASE_TEXT)):
        if len(text) > limit:
            raise LimitExceeded(f"{field} has at most {limit} characters", field=field, limit=limit)


def _next(found: Skill, name: str, base_text: str) -> Skill:
    hash_ = content_hash(base_text)
    if hash_ == found.base_hash and base_text == found.base_text:
        return replace(found, name=name)
    return replace(found, name=name, base_text=base_text, base_hash=hash_, base_version=found.base_version + 1)


async def _ensure_overlay(cmd: Command, agent: Principal, skill: Skill) -> SkillOverlay:
    id_ = overlay_id(agent.workspace, agent.id, skill.slug)
    base = await ensure_base(cmd.writer, new_base(agent.workspace, agent.id, KbKind.AGENT, cmd.at))
    found = (await cmd.writer.get(ADMINISTRATION, [id_])).get(id_)
    if isinstance(found, SkillOverlay):
        return found
    made = SkillOverlay(
        id=id_,
        workspace=agent.workspace,
        pool=base.id,
        created_at=cmd.at,
        agent_id=agent.id,
        skill_slug=skill.slug,
    )
    await put_alone(cmd.writer, made, clause_of(base))
    await cmd.writer.link([Edge(type=EdgeType.OVERLAYS, source=made.id, target=skill.id)])
    return made
