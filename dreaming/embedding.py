"""Makes vectors of what waits for them, batch by batch, under the lease of a job (RE-32).

A batch is read, embedded and kept in one transaction that looks again: what changed meanwhile goes on waiting. Killed
in between, the next worker goes on with what still waits. No language model is asked, and nothing stops searching.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dreaming.jobs import PutOff, WorkContext, guarded_commit
from graph.model.errors import EmbeddingSizeChanged, ModelUnavailable, ProfileUnavailable
from graph.model.fields import Json
from graph.model.time import Millis
from graph.ports import Embedder, EmbeddingChoice
from graph.rules.embedding import VectorKind, choice_of, is_usable, to_be_embedded
from graph.services.learning.embedding import (
    Piece,
    check_size,
    file_vectors,
    kinds_in_force,
    pieces_of,
    stored_models,
    waiting,
)
from graph.services.settings import load_settings
from graph.store.port import Writer
from graph.store.query import After

MORE_WAITS = "MORE_TO_EMBED"
ONE_TRY_MS = 300_000
"""After so long a job ends and asks for itself again, so that its lease and its time limit are never in question."""
_REFUSED = "bad_request"
_PLAIN = "A plain sentence."
"""If even this is refused, the fault is not the text's."""


@dataclass(kw_only=True, slots=True)
class _Task:
    """One try of the job.

    Attributes:
        size: numbers in each vector of this try, once one has come.
    """

    work: WorkContext
    choice: EmbeddingChoice
    embedder: Embedder
    batch: int
    until: Millis
    made: int = 0
    size: int | None = None


async def make_vectors(work: WorkContext) -> Json:
    """Embed all that waits in the job's workspace; return the model and how many vectors were made.

    Raises:
        ModelUnavailable: the provider did not answer; tried again as the back-off says.
        ProfileUnavailable: the provider or model cannot be had.
        EmbeddingSizeChanged: the model gives another size than the vectors kept under its name.
        PutOff: the time of one try is over and more waits.
    """
    async with work.deps.store.reading() as reader:
        settings = await load_settings(reader, work.job.workspace)
    choice = choice_of(settings)
    if choice is None:
        return {"model": None, "made": 0}
    if work.deps.embedders is None:
        raise ProfileUnavailable("this process has no embedders", reason="no_embedders")
    task = _Task(
        work=work,
        choice=choice,
        embedder=work.deps.embedders(choice),
        batch=settings["embedding.batch_size"],
        until=Millis(work.deps.now() + ONE_TRY_MS),
    )
    for kind in kinds_in_force(settings):
        await _embed_kind(task, kind)
    return {"model": choice.name, "made": task.made}


async def _embed_kind(task: _Task, kind: VectorKind) -> None:
    workspace, store = task.work.job.workspace, task.work.deps.store
    after: After | None = None
    while True:
        async with store.reading() as reader:
            models = to_be_embedded(await stored_models(reader, workspace, kind), task.choice.name)
            nodes, after = await waiting(reader, workspace, kind, models, first=task.batch, after=after)
            pieces = await pieces_of(reader, kind, nodes, task.choice.name) if nodes else []
        if nodes:
            await _embed_batch(task, kind, pieces)
        if after is None:
            return
        if task.work.deps.now() >= task.until:
            raise PutOff(MORE_WAITS, task.work.deps.now())


async def _embed_batch(task: _Task, kind: VectorKind, pieces: Sequence[Piece]) -> None:
    """Embed the texts of a batch, in requests of at most as many texts as the settings say, and keep what came."""
    made: dict[Piece, Sequence[float]] = {}
    refused: list[Piece] = []
    for at in range(0, len(pieces), task.batch):
        found, bad = await _asked(task, pieces[at : at + task.batch])
        made |= found
        refused += bad
    await _check_sizes(task, [len(vector) for vector in made.values()])

    async def keep(writer: Writer) -> int:
        return await file_vectors(writer, kind, task.choice.name, made, refused)

    task.made += await guarded_commit(task.work, keep)


async def _check_sizes(task: _Task, given: Sequence[int]) -> None:
    """Make sure that what came has the size of what is kept, and that it does not change from call to call.

    Raises:
        EmbeddingSizeChanged: nothing of the batch is kept.
    """
    if given and task.size is None:
        async with task.work.deps.store.reading() as reader:
            await check_size(reader, task.work.job.workspace, task.choice.name, given[0])
        task.size = given[0]
    for size in given:
        if task.size is not None and size != task.size:
            raise EmbeddingSizeChanged(kept=task.size, given=size)


async def _asked(task: _Task, pieces: Sequence[Piece]) -> tuple[dict[Piece, Sequence[float]], list[Piece]]:
    """Return vectors by piece, and the pieces whose text the model does not take; halves tell which these are."""
    try:
        vectors = await task.embedder.embed([piece.text for piece in pieces], query=False)
    except ModelUnavailable as error:
        if error.reason != _REFUSED:
            raise
        if len(pieces) == 1:
            await task.embedder.embed([_PLAIN], query=False)  # raises if it takes nothing at all
            return {}, list(pieces)
        middle = len(pieces) // 2
        first, bad = await _asked(task, pieces[:middle])
        second, worse = await _asked(task, pieces[middle:])
        return first | second, bad + worse
    if len(vectors) != len(pieces):
        raise ModelUnavailable("bad_response")
    found = dict(zip(pieces, vectors, strict=True))
    useless = [piece for piece, vector in found.items() if not is_usable(vector)]
    return {piece: vector for piece, vector in found.items() if piece not in useless}, useless
