"""Gives the embedder that the settings of a workspace name, each made once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dreaming.models.embedding_http import OPENAI_URL, TIMEOUT_S, HttpEmbedder, HttpReranker, JsonPoster
from dreaming.models.embedding_local import LocalEmbedder, local_embedder
from dreaming.models.provider import NO_CREDENTIAL, UNKNOWN_PROVIDER, Credentials
from graph.model.errors import ProfileUnavailable
from graph.ports import Embedder, EmbeddingChoice

OPENAI, LOCAL = "openai", "local"


@dataclass(kw_only=True, slots=True)
class Embedders:
    """An `EmbedderMaker`.

    Attributes:
        folder: where local models are.
        credentials: where secrets are looked up.
        credential: the name of the secret of the address, such as ``env:OPENAI_API_KEY``; empty: none is sent.
        url: of what speaks OpenAI's language; empty for OpenAI itself, which needs the secret.
    """

    folder: Path
    credentials: Credentials
    credential: str = "env:OPENAI_API_KEY"
    url: str = ""
    timeout_s: float = TIMEOUT_S
    threads: int = 1
    _made: dict[EmbeddingChoice, HttpEmbedder | LocalEmbedder] = field(default_factory=dict)

    def __call__(self, choice: EmbeddingChoice) -> Embedder:
        """Return the embedder; raises `ProfileUnavailable` if it cannot be made."""
        if choice not in self._made:
            self._made[choice] = self._make(choice)
        return self._made[choice]

    async def aclose(self) -> None:
        """Close connections."""
        for made in self._made.values():
            if isinstance(made, HttpEmbedder):
                await made.poster.aclose()

    def _make(self, choice: EmbeddingChoice) -> HttpEmbedder | LocalEmbedder:
        if choice.provider == LOCAL:
            return local_embedder(self.folder, choice.model, threads=self.threads)
        if choice.provider == OPENAI:
            return HttpEmbedder(poster=self._poster("/embeddings"), model=choice.model, dimensions=choice.dimensions)
        raise ProfileUnavailable(f"embedding.provider is {LOCAL} or {OPENAI}", reason=UNKNOWN_PROVIDER)

    def _poster(self, path: str) -> JsonPoster:
        key = self.credentials(self.credential) if self.credential else None
        if not key and not self.url:
            raise ProfileUnavailable("set what embedding.credential names", reason=NO_CREDENTIAL)
        return JsonPoster(url=(self.url or OPENAI_URL).rstrip("/") + path, key=key, timeout_s=self.timeout_s)


def http_reranker(url: str, model: str, key: str | None) -> HttpReranker:
    """Return the reranker behind an address, given whole."""
    return HttpReranker(poster=JsonPoster(url=url, key=key, timeout_s=10.0), model=model)
