"""A place of documents that a test fills, loses and gives back: the scripted twin of folders and feeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from graph.model.errors import BadInput, SyncFailed
from graph.model.fields import Json
from graph.ports import ListedDocument, Look, Loss, OpenedDocument


@dataclass
class ScriptedPlace:
    """Answers what the test says.

    Attributes:
        documents: text by external id.
        versions: a name of the version by external id, where it is not the text itself.
        answers: instead of a document: its loss, or the reason why there is no answer.
        down: why the place as a whole cannot be read.
        unlisted: documents that are not listed though they can be opened.
    """

    documents: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    answers: dict[str, Loss | str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    down: str | None = None
    unlisted: set[str] = field(default_factory=set)
    ask_for_others: timedelta | None = timedelta(0)
    opened: list[str] = field(default_factory=list)
    looks: int = 0

    def check(self, options: Mapping[str, Json]) -> Mapping[str, Json]:
        if "where" not in options:
            raise BadInput("say where", field="options")
        return options

    async def look(self, options: Mapping[str, Json], *, max_bytes: int) -> Look:
        self.looks += 1
        if self.down is not None:
            raise SyncFailed(self.down)
        listed = [ListedDocument(external_id=one, version=self._version(one)) for one in self.documents]
        return Look(
            documents=tuple(one for one in listed if one.external_id not in self.unlisted),
            ask_for_others=self.ask_for_others,
        )

    async def open(self, options: Mapping[str, Json], external_id: str, *, max_bytes: int) -> OpenedDocument | Loss:
        self.opened.append(external_id)
        answer = self.answers.get(external_id)
        if isinstance(answer, Loss):
            return answer
        if answer is not None:
            raise SyncFailed(answer)
        if external_id not in self.documents:
            return Loss.NOT_FOUND
        return OpenedDocument(
            version=self._version(external_id),
            body=self.documents[external_id].encode(),
            filename=external_id,
            title=self.titles.get(external_id),
        )

    def _version(self, external_id: str) -> str:
        return self.versions.get(external_id, self.documents[external_id])
