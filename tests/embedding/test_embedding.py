"""The embedders: loaded when asked for, without network, and what their vectors are."""

from __future__ import annotations

import subprocess
import sys
import threading
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import Failed, InvalidInput
from segue.embedding import static
from segue.embedding.registry import NAMES, load
from segue.embedding.static import StaticEmbedder
from segue.search.vectors import PieceVectors, WordVectors, unit


@cache
def loaded() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return loaded()


@pytest.mark.parametrize("name", NAMES)
def test_every_embedder_keeps_the_protocol(name: str) -> None:
    found: WordVectors = load(name)
    assert load(name) is found
    vectors = found.word_vectors(["boat", "", "boat"])
    assert vectors.shape == (3, found.dimension)
    assert vectors.dtype == np.float32
    assert found.word_vectors([]).shape == (0, found.dimension)
    assert found.word_probabilities(["boat", "x"]).shape == (2,)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InvalidInput, match="static, none") as caught:
        load("huge")
    assert caught.value.code == "embedder.unknown"


def test_words_of_like_meaning_are_close(embedder: StaticEmbedder) -> None:
    boat, ship, bread = unit(embedder.word_vectors(["boat", "ship", "bread"]))
    assert boat @ ship > 0.4 > boat @ bread


def test_a_word_has_the_sum_of_its_pieces(embedder: StaticEmbedder) -> None:
    rare, common = np.linalg.norm(embedder.word_vectors(["xylophonist", "the"]), axis=1)
    assert rare > common


def test_frequent_words_are_known_as_such(embedder: StaticEmbedder) -> None:
    the, boat, odd = embedder.word_probabilities(["the", "boat", "xylophonist"])
    assert the > 0.005 > 0.0005 > boat > odd > 0


@pytest.mark.parametrize("word", ["", "\x00", "\ud800", "東京", "🎉", "<s>", "a" * 64])
def test_any_word_has_a_vector(embedder: StaticEmbedder, word: str) -> None:
    assert np.isfinite(embedder.word_vectors([word])).all()


def test_forgetting_and_bulk_change_no_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = StaticEmbedder()
    words = [f"word{number}" for number in range(60)]
    expected = plain.word_vectors(words)
    monkeypatch.setattr(static, "_MOST_KEPT", 20)
    small = StaticEmbedder()
    assert np.array_equal(small.word_vectors(words), expected)  # more than it keeps
    for start in range(0, 60, 7):
        assert np.array_equal(small.word_vectors(words[start : start + 7]), expected[start : start + 7])
    assert len(small._places) <= 20


ODD = (
    "",
    " ",
    "a b",
    "<s>",
    "\u2581",
    "\u2581x",
    "\ud800",
    "don't",
    "東京",
    "हिन्दी",
    "🎉",
    "x" * 64,
    "naïve",
    "c++",
    "１２",
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.text("abcdefghij öß東京ёλ0189", min_size=1, max_size=8), st.sampled_from(ODD)), max_size=12)
)
def test_words_that_are_cut_together_have_the_pieces_that_each_has_alone(words: list[str]) -> None:
    found = loaded()
    pieces, sizes = found.pieces_of(words)
    alone = [found.pieces_of([word]) for word in words]
    assert sizes.tolist() == [int(size) for _, own in alone for size in own]
    assert pieces.tolist() == [int(piece) for own, _ in alone for piece in own]


def test_many_words_are_cut_as_each_alone(embedder: StaticEmbedder) -> None:
    words = [f"{start}{end}" for start in ("boat", "river", "zeb", "東") for end in range(200)]
    pieces, sizes = embedder.pieces_of(words)
    together = embedder._together(words[:200])
    assert together is not None  # the quick way was taken
    assert pieces.tolist() == [int(piece) for word in words for piece in embedder.pieces_of([word])[0]]
    assert len(sizes) == len(words)


def test_no_piece_reaches_beyond_its_word(embedder: StaticEmbedder) -> None:
    for piece in embedder._tokenizer.get_vocab():
        assert "\u2581" not in piece.lstrip("\u2581"), piece


def test_a_vector_is_the_sum_of_the_pieces(embedder: StaticEmbedder) -> None:
    words = ["xylophonist", "boat", "東京", ""]
    pieces, sizes = embedder.pieces_of(words)
    stops = np.cumsum(sizes)
    for vector, start, stop in zip(embedder.word_vectors(words), stops - sizes, stops, strict=True):
        assert vector == pytest.approx(embedder.pieces[pieces[start:stop]].astype(np.float32).sum(axis=0), abs=1e-5)
    assert isinstance(embedder, PieceVectors)
    assert not isinstance(load("none"), PieceVectors)


def test_threads_share_one_embedder(embedder: StaticEmbedder) -> None:
    words = [f"shared{number}" for number in range(200)]
    expected = StaticEmbedder().word_vectors(words)
    results: list[bool] = []

    def look() -> None:
        results.extend(
            np.array_equal(embedder.word_vectors(words[start : start + 20]), expected[start : start + 20])
            for start in range(0, 200, 20)
        )

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 40


def test_a_missing_package_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "find_spec", lambda name: None)
    with pytest.raises(Failed, match="install wordllama") as caught:
        StaticEmbedder()
    assert caught.value.code == "embedder.missing"


def test_nothing_is_imported_before_it_is_needed_nor_the_network_touched() -> None:
    program = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind"):
        raise SystemExit(f"network: {event}")
sys.addaudithook(refuse)
from segue.embedding.registry import load
assert not {"numpy", "tokenizers", "wordllama"} & set(sys.modules), "imported too early"
load("none")
assert not {"tokenizers", "wordllama"} & set(sys.modules), "imported too early"
assert load("static").word_vectors(["boat"]).any()
assert "wordllama" not in sys.modules and "requests" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
