"""Vectors of texts and queries, statistics, and the vocabulary by meaning."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from search_samples import NOW, ToyEmbedder

from segue.search import vocabulary as module
from segue.search.query import analyse
from segue.search.statistics import Indexed, Statistics
from segue.search.stems import Stems
from segue.search.tokens import stem
from segue.search.vectors import prepare, query_vector, text_vectors, unit, word_weights
from segue.search.vocabulary import CLOSE, GAIN, MOST_RELATED, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

TOY = ToyEmbedder()


def statistics(*texts: str) -> Statistics:
    indexed = [Indexed.of(text) for text in texts]
    return Statistics.of(indexed).with_mean(indexed, TOY)


def numbers(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.int64)


def test_statistics_count_texts_tokens_and_words() -> None:
    found = statistics("Dogs and a dog", "foo_bar", "")
    assert (found.documents, found.length, found.words) == (3, 7, 6)
    assert found.document_frequencies == {"dog": 1, "and": 1, "a": 1, "foo": 1, "bar": 1, "foo_bar": 1}
    assert found.word_counts["dogs"] == found.word_counts["dog"] == 1
    assert found.average_length == pytest.approx(7 / 3)


def test_an_empty_store_has_statistics() -> None:
    empty = statistics()
    assert empty.average_length == 1
    assert empty.mean is None
    assert empty.centre is None


@pytest.mark.parametrize(
    ("text", "is_question", "tells_time"),
    [("Are you there?  ", True, False), ("いますか？", True, False), ("Yesterday.", False, True), ("", False, False)],
)
def test_what_is_noted_of_a_text(text: str, is_question: bool, tells_time: bool) -> None:
    found = Indexed.of(text)
    assert (found.is_question, found.tells_time) == (is_question, tells_time)


def test_the_centre_is_the_mean_where_many_speak_for_it() -> None:
    one, many = statistics("dog"), statistics(*["dog"] * 2000)
    assert one.centre is not None
    assert many.centre is not None
    assert one.centre[0] < 0.1
    assert many.centre[0] == pytest.approx(1, abs=0.02)


def test_a_frequent_word_counts_less() -> None:
    rare, frequent = word_weights(["dog", "boat"], statistics("dog", *["boat"] * 500), TOY)
    assert 0 < frequent < 0.1 < rare < 1


def test_a_text_is_the_mean_of_its_words() -> None:
    rows = text_vectors([["dog", "dog", "boat"], [], ["unknown"]], statistics(), TOY)
    assert rows[0] == pytest.approx([2 / 3, 1 / 3, 0, 0], rel=1e-3)
    assert not rows[1:].any()


def test_a_batch_gives_what_each_text_gives_alone() -> None:
    texts = [["dog"] * (number % 5) + ["boat"] * (number % 3) for number in range(1200)]
    stats = statistics("dog boat")
    alone = np.concatenate([text_vectors([text], stats, TOY) for text in texts])
    assert np.allclose(text_vectors(texts, stats, TOY), alone, atol=1e-6)


def test_prepared_vectors_are_centred_mixed_and_of_unit_length() -> None:
    raw = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]], dtype=np.float32)
    apart = prepare(raw, None, np.array([-1, -1, -1]), numbers(3))
    assert apart.tolist() == raw.tolist()
    together = prepare(raw, None, np.array([0, 0, 0]), numbers(3))
    assert together[0] == pytest.approx(unit(np.array([[1, 0.4, 0, 0]], dtype=np.float32))[0])
    assert together[1] == pytest.approx(unit(np.array([[0.6, 1, 0, 0]], dtype=np.float32))[0])
    centred = prepare(raw, np.array([0.5, 0, 0, 0], dtype=np.float32), np.array([-1, -1, -1]), numbers(3))
    assert centred[1] == pytest.approx(unit(np.array([[-0.5, 1, 0, 0]], dtype=np.float32))[0])
    assert not centred[2].any()


def test_a_query_has_a_vector_of_its_content_words() -> None:
    stats = statistics()
    found = query_vector(analyse("What about the dog?", NOW), stats, TOY)
    assert found is not None
    assert found == pytest.approx([1, 0, 0, 0])
    both = query_vector(analyse("a dog on a boat", NOW), stats, TOY)
    assert both == pytest.approx([0.5**0.5, 0.5**0.5, 0, 0], abs=1e-3)
    assert query_vector(analyse("", NOW), stats, TOY) is None
    assert query_vector(analyse("zzz", NOW), stats, TOY) is None


def test_the_vocabulary_knows_words_of_like_meaning() -> None:
    vocabulary = Vocabulary.of(statistics("dog barks", "a puppy", "the boat"), TOY)
    dog, boat, unknown = vocabulary.related(["dog", "ferry", "zzz"], TOY)
    assert set(dog) == {"puppi"}  # not itself
    assert dog["puppi"] == pytest.approx(GAIN, abs=0.2)
    assert set(boat) == {"boat"}
    assert unknown == {}


def among(vectors: list[list[float]], centre: list[float], *tokens: str) -> Vocabulary:
    """The vocabulary of tokens with these vectors, whatever their mean."""
    rows = np.array(vectors, dtype=np.float32)

    class Given(ToyEmbedder):
        def word_vectors(self, words: object) -> np.ndarray:
            return rows

    ones = np.ones(len(rows), dtype=np.int64)
    stems = Stems.of(tokens, ones.astype(np.float32), ones, Given())
    about = np.array(centre, dtype=np.float32)
    return Vocabulary(tokens, stems, about, 1 / np.linalg.norm(rows - about, axis=1))


@pytest.mark.parametrize(("cosine", "expected"), [(0.29, None), (0.3 + 0.7 / 2, 0.25), (1.0, 0.5)])
def test_related_words_count_by_their_cosine(cosine: float, expected: float | None) -> None:
    vocabulary = among([[1, 0, 0, 0], [0, 1, 0, 0]], [0, 0, 0, 0], "near", "far")

    class Tilted(ToyEmbedder):
        def word_vectors(self, words: object) -> np.ndarray:
            return np.array([[cosine, 0, (1 - cosine**2) ** 0.5, 0]], dtype=np.float32)

    (found,) = vocabulary.related(["other"], Tilted())
    assert found == ({} if expected is None else {"near": pytest.approx(expected, abs=1e-3)})


def test_what_all_words_share_relates_none() -> None:
    vocabulary = among([[1, 0, 0, 1]], [0, 0, 0, 1], "near")

    class Shared(ToyEmbedder):
        def word_vectors(self, words: object) -> np.ndarray:
            return np.array([[0.2, 0, 0, 1]], dtype=np.float32)

    (found,) = vocabulary.related(["other"], Shared())
    assert found == {"near": pytest.approx(GAIN)}


class Pieces(ToyEmbedder):
    """Words of up to four pieces of noise, some of none."""

    id = "pieces"
    dimension = 32
    pieces = np.random.default_rng(5).standard_normal((300, 32)).astype(np.float16)

    def pieces_of(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        cut = [[each * 7 % 300 for each in word.encode()[1:5]] for word in words]
        return np.array([piece for one in cut for piece in one], dtype=np.int64), np.array([len(one) for one in cut])

    def word_vectors(self, words: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(words), 32), dtype=np.float32)
        for place, word in enumerate(words):
            for piece in self.pieces_of([word])[0]:
                rows[place] += self.pieces[piece].astype(np.float32)
        return rows


def plainly_related(known: Statistics, words: Sequence[str], embedder: ToyEmbedder) -> list[dict[str, float]]:
    """What `Vocabulary.related` must say, from the whole matrix of all stems."""
    by_stem: dict[str, list[str]] = {}
    for each in sorted(known.word_counts, key=lambda each: (-known.word_counts[each], each)):
        by_stem.setdefault(stem(each), []).append(each)
    tokens = list(by_stem)
    means = np.zeros((len(tokens), embedder.dimension), dtype=np.float32)
    for mean, some in zip(means, by_stem.values(), strict=True):
        counts = np.array([known.word_counts[each] for each in some])
        mean[:] = (embedder.word_vectors(some) * counts[:, None]).sum(axis=0) / counts.sum()
    centre = means.mean(axis=0) * len(means) / (len(means) + 100)
    found = []
    for word, vector in zip(words, embedder.word_vectors(words), strict=True):
        cosines = unit(means - centre) @ unit((vector - centre)[None])[0] * vector.any()
        best = np.argsort(-cosines, kind="stable")[: MOST_RELATED + 1]
        close = {tokens[place]: GAIN * (float(cosines[place]) - CLOSE) / (1 - CLOSE) for place in best}
        close.pop(stem(word), None)
        found.append({token: gain for token, gain in list(close.items())[:MOST_RELATED] if gain > 0})
    return found


@pytest.mark.parametrize("embedder", [TOY, Pieces()], ids=["whole", "pieces"])
def test_related_words_are_those_of_the_whole_matrix(embedder: ToyEmbedder) -> None:
    chance = random.Random(4)
    endings = ("", "s", "ing", "ed")
    roots = ["".join(chance.choices("bdgklmnprst", k=chance.choice((1, 3, 4, 5)))) for _ in range(900)]
    words = [chance.choice(roots) + chance.choice(endings) for _ in range(4_000)] + ["dog", "puppy", "hound", "boat"]
    known = Statistics.of([Indexed.of(" ".join(words))])
    vocabulary = Vocabulary.of(known, embedder)
    asked = [*chance.sample(words, 40), "dog", "ship", "b", "never"]
    expected = plainly_related(known, asked, embedder)
    assert vocabulary.related(asked, embedder) == [pytest.approx(each, abs=1e-4) for each in expected]
    assert any(vocabulary.related(asked, embedder))
    assert vocabulary.nbytes > 0


def test_a_word_that_stands_next_to_the_centre_is_compared_all_the_same() -> None:
    vocabulary = Vocabulary.of(statistics("dog", *["boat"]), TOY)
    close = among([[2, 0, 0, 0], [1, 1e-3, 0, 0]], [1, 0, 0, 0], "far", "next")
    beside = Vocabulary(close.tokens, close.stems, close.centre, np.zeros(2, dtype=np.float32))

    class Beside(ToyEmbedder):
        def word_vectors(self, words: object) -> np.ndarray:
            return np.array([[1, 1, 0, 0]], dtype=np.float32)

    assert beside.related(["other"], Beside()) == [{"next": pytest.approx(GAIN)}]
    assert vocabulary.related(["dog"], TOY) == [{}]


def test_the_most_frequent_words_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WORDS", 3)
    known = statistics("hound hound loaf loaf loaf ship dog cake")
    assert list(Vocabulary.of(known, TOY).tokens) == ["loaf", "hound", "cake"]  # of equals the first in the alphabet


def test_words_that_no_text_holds_any_more_are_not_kept() -> None:
    known = replace(statistics("dog puppy"), word_counts={"dog": 1, "puppy": 1, "hound": 4, "ship": 0})
    assert set(Vocabulary.of(known, TOY).tokens) == {"dog", "puppi"}


def test_no_more_related_words_than_are_useful() -> None:
    class Alike(ToyEmbedder):
        def word_vectors(self, words: object) -> np.ndarray:
            return np.ones((len(words), 4), dtype=np.float32)  # type: ignore[arg-type]

    vocabulary = Vocabulary.of(statistics(" ".join(f"w{number}" for number in range(100))), Alike())
    (found,) = vocabulary.related(["w5"], Alike())
    assert len(found) == MOST_RELATED
    assert "w5" not in found


def test_an_empty_vocabulary_relates_nothing() -> None:
    assert Vocabulary.of(statistics(), TOY).related(["dog"], TOY) == [{}]


def test_related_words_are_worked_out_once() -> None:
    class Counting(ToyEmbedder):
        asked = 0

        def word_vectors(self, words: Sequence[str]) -> np.ndarray:
            self.asked += len(words)
            return super().word_vectors(words)

    vocabulary = Vocabulary.of(statistics("dog barks", "a puppy", "the boat"), TOY)
    counting = Counting()
    first = vocabulary.related(["dog", "ferry", "dog"], counting)
    assert first[0] == first[2]
    assert vocabulary.related(["ferry", "dog", "zzz"], counting) == [first[1], first[0], {}]
    assert counting.asked == 3
