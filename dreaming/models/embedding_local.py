"""An embedding model that runs in this process, by ONNX Runtime (extra `local`)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dreaming.models.local_models import MODEL_FILE, TOKENIZER_FILE, ModelForm, Pooling, form_of
from graph.model.errors import ModelUnavailable, ProfileUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXTRA_MISSING = "extra_missing"
_TOGETHER = 16
"""So many texts of about one length go through the model at once."""


@dataclass(kw_only=True, slots=True)
class LocalEmbedder:
    """A model of a folder; it is loaded with the first texts, and one call runs at a time.

    Attributes:
        place: the folder of the model.
        form: how it is asked.
        threads: processor cores that one call may use.
    """

    place: Path
    form: ModelForm
    threads: int = 1
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _session: Any = None
    _tokenizer: Any = None

    async def embed(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        """Return one vector of length 1 a text.

        Raises:
            ModelUnavailable: the model cannot be loaded or run.
        """
        if not texts:
            return []
        prefix = self.form.query_prefix if query else self.form.text_prefix
        return await asyncio.to_thread(self._embed, [prefix + text for text in texts])

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        with self._lock:
            try:
                self._load()
                encoded = self._tokenizer.encode_batch(texts)
                order = sorted(range(len(texts)), key=lambda place: len(encoded[place].ids))
                found: dict[int, list[float]] = {}
                for at in range(0, len(order), _TOGETHER):
                    places = order[at : at + _TOGETHER]
                    vectors = self._run([encoded[place].ids for place in places])
                    found.update(zip(places, vectors.tolist(), strict=True))
            except Exception as error:  # whatever the runtime makes of a damaged file
                raise ModelUnavailable("bad_response") from error
        return [found[place] for place in range(len(texts))]

    def _load(self) -> None:
        if self._session is not None:
            return
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        self._tokenizer = Tokenizer.from_file(str(self.place / TOKENIZER_FILE))
        self._tokenizer.enable_truncation(self.form.max_tokens)
        self._tokenizer.no_padding()
        self._session = onnxruntime.InferenceSession(
            str(self.place / MODEL_FILE), options, providers=["CPUExecutionProvider"]
        )

    def _run(self, ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        import numpy as np

        longest = max(map(len, ids))
        tokens = np.zeros((len(ids), longest), dtype=np.int64)
        mask = np.zeros_like(tokens)
        for row, own in enumerate(ids):
            tokens[row, : len(own)] = own
            mask[row, : len(own)] = 1
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        wanted = {one.name for one in self._session.get_inputs()}
        hidden = self._session.run(None, {name: value for name, value in given.items() if name in wanted})[0]
        return _pooled(hidden, mask, self.form.pooling)


def local_embedder(folder: Path, name: str, *, threads: int = 1) -> LocalEmbedder:
    """Return the model of a folder; it is not loaded yet.

    Raises:
        ProfileUnavailable: it is not there, or the extra is not installed.
    """
    form = form_of(folder, name)
    try:
        import_module("onnxruntime")
        import_module("tokenizers")
    except ImportError as error:
        raise ProfileUnavailable("install the extra `local` of rootward-server", reason=EXTRA_MISSING) from error
    return LocalEmbedder(place=folder / name, form=form, threads=threads)


def _pooled(hidden: NDArray[np.float32], mask: NDArray[np.int64], pooling: Pooling) -> NDArray[np.float32]:
    import numpy as np

    if pooling is Pooling.FIRST:
        vectors = hidden[:, 0]
    else:
        weights = mask[..., None].astype(np.float32)
        vectors = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
