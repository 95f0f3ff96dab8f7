"""The first start: workspace, root key, first admin and his token, and the sample if it is wanted (AD-14, AD-43).

A new embedded store is made beside its place and moved there once all of it is told and the tokens are written, so
that a start that is cut off at any point leaves nothing half told: the next one begins anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from api.adapters.private_file import sync_folder
from api.bootstrap import Ports, make_deps, make_folder, owning, running
from api.cli.model_choice import ModelChoice, model_choice, real_models, set_light
from api.cli.places import ADMIN, token_file, write_private, write_sample
from api.sample.dreaming import Dreamed, dream, what_was_dreamed
from api.sample.load import Progress, SampleLoader
from api.sample.recording import sample_model
from api.sample.story import Person
from api.settings import Settings, StoreSettings, store_file
from dreaming.jobs import ModelMaker
from dreaming.models.making import OneModel
from graph.model.errors import BadState, StoreUnavailable
from graph.model.ids import GlobalId, NodeId, WorkspaceId
from graph.model.schema import kind_of
from graph.model.time import DAY_MS, Millis
from graph.services.access.commands import command
from graph.services.access.tokens import create_token
from graph.services.access.workspaces import FIRST_TOKEN_DAYS, NewWorkspace, init_workspace
from graph.services.deps import Deps
from graph.services.knowledge.anchors import workspaces

_NURSERY = ".first-start"


@dataclass(frozen=True, kw_only=True, slots=True)
class FirstStart:
    """What a first start shall make.

    Attributes:
        display_name: of the workspace; None for the sample's, or its id.
        sample: whether the sample story is told.
        progress: told how far the story is.
        environ: may name a model, which becomes the profile `light`; the sample then dreams with it.
        dreaming: told who is asked when the sample begins to dream, and how many jobs are done.
    """

    display_name: str | None = None
    sample: bool = False
    progress: Progress | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    dreaming: Callable[[str, int], None] = lambda model, done: None


async def prepare(settings: Settings, first: FirstStart) -> bool:
    """Make what a new embedded store needs before it is opened; false if there is one already.

    Raises:
        StoreLocked: another process owns the place.
        StoreUnavailable: the data directory cannot be written.
    """
    file = store_file(settings)
    if file is None:
        return False
    with owning(file):
        if file.exists() and file.stat().st_size:
            return False
        await _grow(settings, file, first)
    return True


async def ensure_workspace(settings: Settings, deps: Deps) -> bool:
    """Make workspace, admin and token in an open store that has no workspace; false if it has one."""
    if await workspaces(deps):
        return False
    try:
        await initialise(settings, deps, FirstStart())
    except BadState:
        return False  # another process was faster
    return True


async def initialise(settings: Settings, deps: Deps, first: FirstStart) -> NewWorkspace:
    """Make workspace, root key, admin, tokens and perhaps the sample in an open store.

    Raises:
        BadState: the store has a workspace.
    """
    make_folder(settings.data_dir)
    made = await init_workspace(deps, settings.workspace, display_name=first.display_name)
    write_private(token_file(settings.data_dir, ADMIN), made.token.text + "\n")
    choice = model_choice(first.environ)
    if choice is not None:
        await set_light(deps, made.caller, choice)
    if first.sample:
        loader = SampleLoader(deps=deps, made=made)
        ids = await loader.load(first.progress)
        dreamed = await _dream(deps, loader, first, choice)
        await _sign_in(settings, deps, made, loader)
        people = {p.key: _about(p) for p in loader.story.people if p.prints_token}
        write_sample(settings.data_dir, _shown(ids, made.workspace.workspace), people, dreamed=asdict(dreamed))
    return made


async def _dream(deps: Deps, loader: SampleLoader, first: FirstStart, choice: ModelChoice | None) -> Dreamed:
    """Let the sample dream: with the model that was chosen, else with recorded answers."""
    models: ModelMaker
    if choice is not None:
        models, name = real_models(deps, first.environ), choice.name
    else:
        recorded = sample_model(loader.story)
        models, name = OneModel(model=recorded), recorded.name
    first.dreaming(name, 0)
    unfinished = await dream(deps, models, partial(first.dreaming, name))
    return await what_was_dreamed(deps, loader.principal(loader.story.agent.key), name, unfinished)


async def _grow(settings: Settings, file: Path, first: FirstStart) -> None:
    """Make the store in a folder of its own and move it to its place, which is the last step of all."""
    nursery = file.parent / _NURSERY
    shutil.rmtree(nursery, ignore_errors=True)
    make_folder(nursery)
    young = nursery / file.name
    store = StoreSettings(url=f"embedded:{young}")
    deps = make_deps(settings.model_copy(update={"store": store}), Ports())
    async with running(deps):
        await initialise(settings, deps, first)
    try:
        young.rename(file)
        sync_folder(file.parent)
    except OSError as error:
        raise StoreUnavailable(f"the new store cannot be moved to its place: {error.strerror}") from error
    shutil.rmtree(nursery, ignore_errors=True)


async def _sign_in(settings: Settings, deps: Deps, made: NewWorkspace, loader: SampleLoader) -> None:
    """Write a token for each person of the story that shall have one."""
    expires_at = Millis(deps.now() + FIRST_TOKEN_DAYS * DAY_MS)
    for person in loader.story.people:
        if person.prints_token:
            mint = partial(create_token, principal_id=loader.principal(person.key), expires_at=expires_at)
            minted = await command(deps, made.caller, mint)
            write_private(token_file(settings.data_dir, person.key), minted.text + "\n")


def _about(person: Person) -> str:
    return f"{person.name}, {person.role}" if person.role else person.name


def _shown(ids: Mapping[str, str], workspace: WorkspaceId) -> dict[str, str]:
    """Return the ids as clients see them."""
    return {name: _global(NodeId(id_), workspace) for name, id_ in ids.items()}


def _global(id_: NodeId, workspace: WorkspaceId) -> str:
    spec = kind_of(id_)
    assert spec is not None
    return GlobalId(kind=spec.name, workspace=workspace, node=id_).encode()
