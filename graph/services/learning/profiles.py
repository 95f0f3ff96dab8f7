"""Model profiles: set by admins, found by the name that an agent's settings give. Source: AD-18, DR-6."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from graph.model.access import SystemScope
from graph.model.errors import ProfileUnavailable, VersionConflict
from graph.model.fields import Json
from graph.model.ids import NodeId, WorkspaceId, node_id
from graph.model.nodes.learning import ModelProfile
from graph.model.nodes.work import Job
from graph.rules.admin_chain import AdminOperation
from graph.rules.jobs import JobState
from graph.rules.model_profiles import LIGHT_PROFILE_UNAVAILABLE, checked_profile
from graph.rules.rights import may_administer
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.session import Session
from graph.services.settings import load_settings
from graph.store.port import Reader
from graph.store.query import And, By, Eq, Find

PROFILES = SystemScope(reason="model profiles")


def profile_id(workspace: WorkspaceId, name: str) -> NodeId:
    """Return the id of the profile of a name."""
    return node_id(ModelProfile.PREFIX, f"{workspace}//{name}")


async def set_model_profile(
    cmd: Command,
    name: str,
    *,
    provider: str,
    model: str,
    base_url: str | None = None,
    credential: str | None = None,
    prices: Mapping[str, Json] | None = None,
    expected_version: int | None = None,
) -> ModelProfile:
    """Make or change the model profile of a name; it applies to the next run, and wakes work that waited for it.

    Args:
        cmd: of an admin.
        name: the name that settings use, such as ``light``.
        provider: ``openai`` (with a base URL: whatever speaks its language), ``anthropic`` or ``google``.
        model: the provider's name of the model.
        base_url: where to ask, if not at the provider's own address.
        credential: where the key is read from, such as ``env:OPENAI_API_KEY``; never the key itself.
        prices: USD per million tokens, ``{"input": …, "output": …}``, if they are not known elsewhere.
        expected_version: if given, the version that the profile must have; 0 for none.

    Raises:
        Forbidden: only an admin sets.
        BadInput: a field that cannot be taken.
        VersionConflict: somebody changed it meanwhile.
    """
    cmd.require_admin()
    checked_profile(name=name, provider=provider, model=model, base_url=base_url, credential=credential, prices=prices)
    id_ = profile_id(cmd.caller.workspace, name)
    await cmd.writer.lock([id_])
    found = await find_profile(cmd.writer, cmd.caller.workspace, name)
    version = found.version if found else 0
    if expected_version is not None and expected_version != version:
        raise VersionConflict("the model profile has changed: read it again", current={"version": version})
    made = ModelProfile(
        id=id_,
        workspace=cmd.caller.workspace,
        created_at=found.created_at if found else cmd.at,
        name=name,
        provider=provider,
        model=model,
        base_url=base_url,
        credential=credential,
        prices=None if prices is None else dict(prices),
        version=version + 1,
    )
    await _write(cmd, made, found)
    await record_admin(cmd, AdminOperation.MODEL_PROFILE_SET, id_, {"name": name, "provider": provider, "model": model})
    await _wake(cmd)
    return made


async def delete_model_profile(cmd: Command, name: str) -> None:
    """Remove a model profile; work that needs it waits, and nothing is lost (DR-6).

    Raises:
        Forbidden: only an admin removes.
    """
    cmd.require_admin()
    found = await find_profile(cmd.writer, cmd.caller.workspace, name)
    if found is not None:
        await cmd.writer.delete([found.id])
        await record_admin(cmd, AdminOperation.MODEL_PROFILE_DELETE, found.id, {"name": name})


async def list_model_profiles(session: Session) -> tuple[ModelProfile, ...]:
    """Return the model profiles of the workspace by name; who is no admin does not learn where keys are read from."""
    query = Find(kind=ModelProfile, where=Eq("workspace", session.caller.workspace), order=By("name"))
    page = await session.reader.find(PROFILES, query)
    if may_administer(session.facts):
        return page.nodes
    return tuple(replace(profile, credential=None, base_url=None) for profile in page.nodes)


async def agent_profile(reader: Reader, workspace: WorkspaceId, agent: NodeId) -> ModelProfile:
    """Return the model profile that an agent's settings name; both stages use it (DR-6).

    Raises:
        ProfileUnavailable: there is none of this name; `details["reason"]` is ``light_profile_unavailable``.
    """
    settings = await load_settings(reader, workspace, agent)
    found = await find_profile(reader, workspace, settings["dream.model_profile"])
    if found is None:
        raise ProfileUnavailable(
            "make the model profile that dream.model_profile names", reason=LIGHT_PROFILE_UNAVAILABLE
        )
    return found


async def find_profile(reader: Reader, workspace: WorkspaceId, name: str) -> ModelProfile | None:
    """Return the model profile of a name, if there is one."""
    id_ = profile_id(workspace, name)
    found = (await reader.get(PROFILES, [id_])).get(id_)
    return found if isinstance(found, ModelProfile) else None


async def _write(cmd: Command, made: ModelProfile, found: ModelProfile | None) -> None:
    if found is None:
        await cmd.writer.put([made])
        return
    names = ("provider", "model", "base_url", "credential", "prices", "version")
    await cmd.writer.patch(made.id, {name: getattr(made, name) for name in names})


async def _wake(cmd: Command) -> None:
    """Let work that waits for a usable profile begin now."""
    waiting = And(
        (
            Eq("workspace", cmd.caller.workspace),
            Eq("state", str(JobState.QUEUED)),
            Eq("last_error", LIGHT_PROFILE_UNAVAILABLE),
        )
    )
    await cmd.writer.patch_where(Job, waiting, {"due_at": cmd.at})
