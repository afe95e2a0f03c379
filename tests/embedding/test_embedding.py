"""The embedders: loaded when asked for, without network, and what their vectors are."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from segue.base.errors import Failed, InvalidInput
from segue.embedding import static
from segue.embedding.registry import NAMES, load
from segue.embedding.static import StaticEmbedder
from segue.search.vectors import WordVectors, unit


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


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
