"""What is stored of a memory, packed and unpacked, and many of them as columns."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.search.entry import (
    EARLIEST,
    LATEST,
    Batch,
    Entry,
    hashes,
    packed_terms,
    packed_vectors,
    unpacked_terms,
    unpacked_vectors,
)
from segue.search.hashing import hashed
from segue.search.statistics import Indexed


def test_hashes_are_the_same_everywhere() -> None:
    assert hashed("boat") == 0x4BDE54CAA0827A55
    assert hashed("東京") != hashed("京東")
    assert hashed("\ud800") != hashed("")


@given(st.lists(st.text(max_size=5)))
def test_terms_are_packed_and_unpacked(tokens: list[str]) -> None:
    terms, counts = packed_terms(tokens)
    assert unpacked_terms(terms, counts) == {hashed(token): count for token, count in Counter(tokens).items()}
    assert len(terms) == 8 * len(set(tokens)) == 4 * len(counts)


def test_terms_are_little_endian_and_ascending() -> None:
    terms, counts = packed_terms(["boat", "pier", "boat"])
    low, high = sorted([hashed("boat"), hashed("pier")])
    assert terms == low.to_bytes(8, "little") + high.to_bytes(8, "little")
    amount = {hashed("boat"): 2, hashed("pier"): 1}
    assert counts == amount[low].to_bytes(2, "little") + amount[high].to_bytes(2, "little")


def test_a_count_ends_at_what_two_bytes_hold() -> None:
    assert unpacked_terms(*packed_terms(["boat"] * 70_000)) == {hashed("boat"): 65_535}


def test_terms_without_their_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        unpacked_terms(bytes(16), bytes(2))


def test_vectors_are_packed_and_unpacked() -> None:
    rows = np.array([[0.5, -2.0, 0.1], [0, 0, 1]], dtype=np.float32)
    assert unpacked_vectors(packed_vectors(rows), 3) == pytest.approx(rows, rel=1e-3)
    assert packed_vectors(rows[0]) == rows[0].astype("<f2").tobytes()
    with pytest.raises(ValueError, match="reshape"):
        unpacked_vectors(packed_vectors(rows), 4)


@given(st.text())
def test_an_entry_holds_what_is_indexed(text: str) -> None:
    entry, indexed = Entry.of(text), Indexed.of(text)
    assert sum(unpacked_terms(entry.terms, entry.counts).values()) == entry.length == len(indexed.tokens)
    assert entry.words == indexed.words
    assert (entry.is_question, entry.tells_time) == (indexed.is_question, indexed.tells_time)


def test_many_hashes_are_those_of_each() -> None:
    tokens = [f"token{number}" for number in range(2_000)] + ["東京", "\ud800", ""]
    assert hashes(tokens).tolist() == [hashed(token) for token in tokens]
    assert hashes(["boat"]).tolist() == [hashed("boat")]
    assert hashes([]).tolist() == []


def columns_of(texts: list[str], *, vectors: bool, windows: bool) -> dict[str, Any]:
    entries = [Entry.of(text) for text in texts]
    packed = packed_vectors(np.ones(2, dtype=np.float32))
    return {
        "ids": texts,
        "terms": [entry.terms for entry in entries],
        "counts": [entry.counts for entry in entries],
        "lengths": [entry.length for entry in entries],
        "vectors": [packed for _ in texts] if vectors else None,
        "windows": [packed for _ in texts] if windows else None,
        "sentences": [2 * packed for _ in texts] if windows else None,
        "threads": ["t" for _ in texts],
        "ends": [7 for _ in texts],
    }


@pytest.mark.parametrize("bare", [0, 1, 2])
def test_batches_are_joined_to_what_they_are_together(bare: int) -> None:
    """Those of which a column is empty too: what is missing there is nothing."""
    parts = [["a boat", "a pier"], [], ["a loaf"]]
    some = [
        Batch.of(**columns_of(texts, vectors=place != bare, windows=place == 2)) for place, texts in enumerate(parts)
    ]
    joined = Batch.joined(some)
    assert list(joined.ids) == ["a boat", "a pier", "a loaf"]
    assert list(joined.threads) == ["t"] * 3
    whole = Batch.of(**columns_of([text for texts in parts for text in texts], vectors=True, windows=True))
    for name in ("terms", "counts", "sizes", "lengths", "occurred", "captured", "begins", "ends"):
        assert getattr(joined, name).tolist() == getattr(whole, name).tolist()
    assert joined.vectors is not None
    assert joined.vectors.any(axis=1).tolist() == {0: [False, False, True], 1: [True] * 3, 2: [True, True, False]}[bare]
    assert joined.windows is not None
    assert joined.windows.any(axis=1).tolist() == [False, False, True]
    assert joined.sentences is not None
    assert joined.sentence_sizes is not None
    assert (len(joined.sentences), joined.sentence_sizes.tolist()) == (2, [0, 0, 2])
    assert len(Batch.joined([])) == 0


def test_a_batch_of_columns() -> None:
    entries = [Entry.of(text) for text in ("a boat", "", "a pier, a boat")]
    batch = Batch.of(
        ids=["x", "y", "z"],
        terms=[entry.terms for entry in entries],
        counts=[entry.counts for entry in entries],
        lengths=[entry.length for entry in entries],
        vectors=[packed_vectors(np.ones(2, dtype=np.float32)), None, b""],
        threads=["t", None, None],
        positions=[4, None, 0],
        occurred=[None, 5, 6],
        speakers=["Ada", None, "Ada\nBen"],
        windows=[None, None, packed_vectors(np.ones(3, dtype=np.float32))],
        sentences=[None, None, packed_vectors(np.ones((2, 3), dtype=np.float32))],
    )
    assert len(batch) == 3
    assert batch.sizes.tolist() == [2, 0, 3]
    assert batch.counts.sum() == 2 + 4
    assert batch.vectors is not None
    assert batch.vectors.tolist() == [[1, 1], [0, 0], [0, 0]]
    assert batch.positions.tolist() == [4, 0, 0]
    assert batch.occurred.tolist() == [EARLIEST, 5, 6]
    assert batch.speakers == ["Ada", "", "Ada\nBen"]
    assert batch.windows is not None
    assert batch.sentences is not None
    assert batch.sentence_sizes is not None
    assert (batch.windows.shape, batch.sentences.shape, batch.sentence_sizes.tolist()) == ((3, 3), (2, 3), [0, 0, 2])
    assert set(batch.begins.tolist()) == set(batch.captured.tolist()) == {EARLIEST}
    assert set(batch.ends.tolist()) == {LATEST}


@pytest.mark.parametrize(
    "column",
    [
        {"lengths": [1, 2]},
        {"threads": ["t", "u"]},
        {"speakers": ["Ada", "Ben"]},
        {"ends": [1, 2]},
        {"windows": [b"", b""]},
        {"counts": [b"\1\0\1\0"]},
        {"vectors": [bytes(3)]},
    ],
)
def test_columns_that_do_not_fit_are_refused(column: dict[str, list[object]]) -> None:
    terms, counts = packed_terms(["boat"])
    with pytest.raises(ValueError, match=r"column|count|size|divisible|multiple"):
        Batch.of(**{"ids": ["x"], "terms": [terms], "counts": [counts], "lengths": [1]} | column)  # type: ignore[arg-type]
