"""The index of `segue.search` over many made-up memories: how long building, searching and changing it take.

    python benchmarks/search_rows.py [--json] [--rows 100000] [--embedder static] [--questions 50]

The memories are drawn from 50,000 words of syllables and the function words of English, by Zipf's law; most stand in
threads, which have a subject. Everything is in memory and the same each time. Aims: 100,000 memories are indexed in
1.5 seconds and searched in 25 ms, a million in 20 seconds and 120 ms; a change of one takes 20 ms at 100,000.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from segue.embedding import registry
from segue.search import dates
from segue.search.entry import EARLIEST, LATEST, Batch
from segue.search.hashing import hashed
from segue.search.index import Index
from segue.search.statistics import Statistics
from segue.search.stopwords import STOP_WORDS
from segue.search.tokens import stem
from segue.search.vectors import word_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from segue.search.vectors import WordVectors

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
NOW_US = int(NOW.timestamp()) * 1_000_000
YEAR_US = 365 * 86_400_000_000
WORDS = 50_000
BLOCK = 10_000  # memories that are drawn at a time
THREAD = 80  # memories of a thread; after every four threads as many memories stand alone
MOST = 1_000_000  # memories over whom the three years are spread
_STARTS = "b br c ch cl d dr f fl g gr h j k l m n p pl pr r s sh sl st t tr v w".split()
_MIDDLES = "a e i o u ai ea oo ou".split()
_ENDS = ["", "", "", *"n r s t l m ck nd st ng".split()]
_FIRST = "Ada Ben Cleo Dora Emil Finn Gita Hugo Iris Jonas Kira Liam Mona Nils Olga Paul Rosa Sven Tara Uwe".split()
_LAST = "Abel Brook Carr Dale Ember Frost Grove Hale Irwin Jarvis Kemp Lorne Norden North Olsen Pike".split()
SPEAKERS = [f"{first} {last}" for first in _FIRST for last in _LAST]


@dataclass(frozen=True, slots=True)
class Memory:
    """One made-up memory; `occurred_us` is in microseconds since 1970."""

    id: str
    text: str
    thread: str | None
    position: int
    speaker: str
    occurred_us: int
    is_question: bool


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """What was drawn for memories: numbers of words one after another, `sizes` of them for each, and who and where."""

    numbers: NDArray[np.int64]  # of the memories
    words: NDArray[np.int64]
    sizes: NDArray[np.int64]
    threads: NDArray[np.int64]  # -1 for none
    speakers: NDArray[np.int64]
    questions: NDArray[np.bool_]

    @property
    def occurred(self) -> NDArray[np.int64]:
        """When each memory was, in microseconds since 1970: all of them over three years, to now."""
        return NOW_US - 3 * YEAR_US + self.numbers * (3 * YEAR_US // MOST)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The place of the memory that each word belongs to."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


class Source:
    """Made-up memories, numbered from 0: number n is the same however many there are."""

    def __init__(self, seed: int = 1) -> None:
        """Each `seed` gives other memories."""
        self._seed = seed
        self.words = [*sorted(STOP_WORDS), *_made_words(np.random.default_rng(seed))]
        shares = 1 / (np.arange(1, len(self.words) + 1) + 2.7) ** 1.05
        self._cumulated = np.cumsum(shares / shares.sum())
        self._stems = list(dict.fromkeys(map(stem, self.words)))
        places = {token: place for place, token in enumerate(self._stems)}
        self._stem_of = np.array([places[stem(word)] for word in self.words])
        self._hashes = np.array([hashed(token) for token in self._stems], dtype=np.uint64)

    def block(self, number: int, count: int = BLOCK) -> Block:
        """Return the first `count` memories of a block."""
        rng = np.random.default_rng((self._seed, number))
        numbers = np.arange(number * BLOCK, (number + 1) * BLOCK)
        threads = np.where(numbers // THREAD % 5 == 4, -1, numbers // THREAD)
        sizes = np.clip(rng.lognormal(2.9, 0.6, BLOCK), 3, 120).astype(np.int64)
        words = np.searchsorted(self._cumulated, rng.random(int(sizes.sum())))
        # a third of the words of a thread come from its subject, of some forty words
        of = np.repeat(threads, sizes)
        subject = (of * 7_919 + rng.integers(0, 40, len(words)) ** 2 * 1_299_709) % 9_973 + len(STOP_WORDS)
        words = np.where((rng.random(len(words)) < 1 / 3) & (of >= 0), subject, words)
        speakers = (numbers // THREAD * 31 + rng.integers(0, 3, BLOCK) * 101) % len(SPEAKERS)
        questions = rng.random(BLOCK) < 0.1
        kept = int(sizes[:count].sum())
        return Block(numbers[:count], words[:kept], sizes[:count], threads[:count], speakers[:count], questions[:count])

    def blocks(self, count: int) -> Iterator[Block]:
        """Yield the first `count` memories, by blocks."""
        return (self.block(start // BLOCK, min(BLOCK, count - start)) for start in range(0, count, BLOCK))

    def memories(self, count: int) -> Iterator[Memory]:
        """Yield the first `count` memories with their texts."""
        for block in self.blocks(count):
            starts = np.cumsum(block.sizes) - block.sizes
            for place, number in enumerate(block.numbers.tolist()):
                words = block.words[starts[place] : starts[place] + block.sizes[place]]
                ending = "?" if block.questions[place] else "."
                yield Memory(
                    id=_id(number),
                    text=" ".join(self.words[word] for word in words.tolist()).capitalize() + ending,
                    thread=_thread(int(block.threads[place])),
                    position=number % THREAD,
                    speaker=SPEAKERS[block.speakers[place]],
                    occurred_us=int(block.occurred[place]),
                    is_question=bool(block.questions[place]),
                )

    def word_counts(self, count: int) -> dict[str, int]:
        """Return how often each word stands in the first `count` memories."""
        total = np.zeros(len(self.words), dtype=np.int64)
        for block in self.blocks(count):
            total += np.bincount(block.words, minlength=len(self.words))
        return {word: number for word, number in zip(self.words, total.tolist(), strict=True) if number}

    def batches(self, count: int, embedder: WordVectors) -> Iterator[Batch]:
        """Yield the first `count` memories as a database hands them to the index."""
        counts = self.word_counts(count)
        known = Statistics(word_counts=counts, words=sum(counts.values()))
        weights = word_weights(self.words, known, embedder)
        weighted = embedder.word_vectors(self.words) * weights[:, None]
        return (self._batch(block, weights, weighted) for block in self.blocks(count))

    def _batch(self, block: Block, weights: NDArray[np.float32], weighted: NDArray[np.float32]) -> Batch:
        count = len(block.sizes)
        keys, amounts = np.unique(block.owners * len(self._stems) + self._stem_of[block.words], return_counts=True)
        starts = np.cumsum(block.sizes) - block.sizes
        vectors = None
        if weighted.shape[1]:
            sums = np.add.reduceat(weighted[block.words], starts, axis=0)
            vectors = (sums / np.add.reduceat(weights[block.words], starts)[:, None]).astype(np.float16)
        return Batch(
            ids=[_id(number) for number in block.numbers.tolist()],
            terms=self._hashes[keys % len(self._stems)],
            counts=amounts.astype(np.uint16),
            sizes=np.bincount(keys // len(self._stems), minlength=count),
            lengths=block.sizes.astype(np.float32),
            vectors=vectors,
            threads=[_thread(thread) for thread in block.threads.tolist()],
            positions=block.numbers % THREAD,
            occurred=block.occurred,
            speakers=[SPEAKERS[speaker] for speaker in block.speakers.tolist()],
            questions=block.questions,
            telling=self._telling(block),
            captured=block.occurred,
            begins=np.full(count, EARLIEST, dtype=np.int64),
            ends=np.where(block.numbers % 50 == 7, NOW_US - 1, LATEST),  # some were retired
        )

    def _telling(self, block: Block) -> NDArray[np.bool_]:
        """Which memories tell a time: of all words that can be drawn only `this` does, with another after it."""
        last = np.zeros(len(block.words), dtype=np.bool_)
        last[np.cumsum(block.sizes) - 1] = True
        found = (block.words == self.words.index("this")) & ~last
        return np.bincount(block.owners, weights=found, minlength=len(block.sizes)) > 0

    def questions(self, count: int, rows: int) -> list[str]:
        """Return questions about some of the first `rows` memories: three of their words, often who, seldom when."""
        rng = np.random.default_rng((self._seed, 0, count))
        found: list[str] = []
        while len(found) < count:
            number = int(rng.integers(rows))
            block = self.block(number // BLOCK)
            start = int(block.sizes[: number % BLOCK].sum())
            words = np.unique(block.words[start : start + block.sizes[number % BLOCK]])
            words = words[words >= len(STOP_WORDS)]
            if len(words) < 3:
                continue
            one, two, three = (self.words[word] for word in rng.choice(words, 3, replace=False))
            who = SPEAKERS[block.speakers[number % BLOCK]] if rng.random() < 0.5 else "they"
            when = " in May 2024" if rng.random() < 0.1 else ""
            found.append(f"What did {who} say about the {one} and the {two} with a {three}{when}?")
        return found

    def heavy(self) -> str:
        """Return a question of the eight most frequent words that are no function words."""
        return " ".join(self.words[len(STOP_WORDS) : len(STOP_WORDS) + 8])


def _made_words(rng: np.random.Generator) -> list[str]:
    """WORDS different words of one to three syllables, the short ones first, none of which tells a time."""
    found: dict[str, None] = {}
    drawn = rng.integers(0, 2**16, (4 * WORDS, 7)).tolist()
    for syllables, most in ((1, 1_000), (2, 15_000), (3, WORDS)):
        while len(found) < most:
            numbers = drawn.pop()
            parts = [kind[numbers.pop() % len(kind)] for _ in range(syllables) for kind in (_STARTS, _MIDDLES)]
            word = "".join([*parts, _ENDS[numbers.pop() % len(_ENDS)]])
            if word not in STOP_WORDS and not dates.tells(word):
                found[word] = None
    return list(found)


def _id(number: int) -> str:
    return f"{number:026d}"


def _thread(number: int) -> str | None:
    return None if number < 0 else f"thread-{number}"


def seconds(do: Callable[[], object]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    do()
    return time.perf_counter() - start


def measure(rows: int, embedder: WordVectors, questions: int) -> dict[str, Any]:
    """Return all figures, times in seconds."""
    source = Source()
    batches = list(source.batches(rows, embedder))
    counts = source.word_counts(rows)
    built: list[Index] = []
    building = seconds(lambda: built.append(Index.of(batches, counts, embedder)))
    index = built.pop()
    first = seconds(lambda: index.search("first", NOW, at_us=NOW_US))
    asked = [seconds(lambda text=text: _ten(index, text)) for text in source.questions(questions, rows)]  # type: ignore[misc]
    heavy = [seconds(lambda: _ten(index, source.heavy())) for _ in range(9)]
    changes = [_one(batches[0], place) for place in range(20)]
    changing: list[float] = []
    for change in changes:
        start = time.perf_counter()
        index = index.updated(change)
        changing.append(time.perf_counter() - start)
    after = [seconds(lambda text=text: _ten(index, text)) for text in source.questions(questions, rows)]  # type: ignore[misc]
    return {
        "rows": rows,
        "embedder": embedder.id,
        "building": round(building, 3),
        "first search": round(first, 3),
        "search, median": round(statistics.median(asked), 4),
        "search, slowest": round(max(asked), 4),
        "search of eight frequent words": round(statistics.median(heavy), 4),
        "change of one": round(statistics.median(changing), 4),
        "search after changes, median": round(statistics.median(after), 4),
        "megabytes of the index": round(index.nbytes / 1e6),
        "megabytes of the process at its most": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def _ten(index: Index, text: str) -> list[str]:
    return index.search(text, NOW, at_us=NOW_US).ids(0, 10)


def _one(batch: Batch, place: int) -> Batch:
    """One memory of a batch, moved on by a day."""
    starts = np.cumsum(batch.sizes) - batch.sizes
    flat = slice(starts[place], starts[place] + batch.sizes[place])
    row = slice(place, place + 1)
    names = ("sizes", "lengths", "positions", "questions", "telling", "captured", "begins", "ends")
    return replace(
        batch,
        ids=batch.ids[row],
        terms=batch.terms[flat],
        counts=batch.counts[flat],
        vectors=None if batch.vectors is None else batch.vectors[row],
        threads=batch.threads[row],
        speakers=batch.speakers[row],
        occurred=batch.occurred[row] + YEAR_US // 365,
        **{name: getattr(batch, name)[row] for name in names},
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the index of memories.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--embedder", choices=registry.NAMES, default=registry.DEFAULT)
    parser.add_argument("--questions", type=int, default=50)
    options = parser.parse_args()
    figures = measure(options.rows, registry.load(options.embedder), options.questions)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        print(f"{name:<40}{value:>24}")


if __name__ == "__main__":
    main()
