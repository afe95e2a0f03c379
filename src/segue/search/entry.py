"""What is stored of one memory for search, and many of them by columns, as a database hands them in."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from segue.search.hashing import digest, hashed
from segue.search.statistics import Indexed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

EARLIEST, LATEST = -(2**63), 2**63 - 1  # microseconds: valid from ever, valid for ever; EARLIEST also means unknown

_TERM, _COUNT, _VECTOR = np.dtype("<u8"), np.dtype("<u2"), np.dtype("<f2")
_KEPT = 1024  # hashes asked for at once, up to which they are kept
_MOST = 2**16 - 1  # that a count says


def hashes(tokens: Sequence[str]) -> NDArray[np.uint64]:
    """Return the hash of each of `tokens`; of very many faster than `hashed`, which keeps what it said."""
    if len(tokens) <= _KEPT:
        return np.array([hashed(token) for token in tokens], dtype=np.uint64)
    return np.frombuffer(b"".join(map(digest, tokens)), _TERM)


def packed_terms(tokens: Iterable[str]) -> tuple[bytes, bytes]:
    """Return the distinct tokens as hashes (8 bytes each, ascending), and how often each stands there (2 bytes each).

    Both are little-endian; a count above 65,535 is stored as that.
    """
    counts = sorted(Counter(map(hashed, tokens)).items())
    return (
        np.array([term for term, _ in counts], dtype=_TERM).tobytes(),
        np.array([min(count, _MOST) for _, count in counts], dtype=_COUNT).tobytes(),
    )


def unpacked_terms(terms: bytes, counts: bytes) -> dict[int, int]:
    """Return what `packed_terms` packed: counts by hash. Raises ValueError where the two do not belong together."""
    pairs = zip(np.frombuffer(terms, _TERM).tolist(), np.frombuffer(counts, _COUNT).tolist(), strict=True)
    return dict(pairs)


def packed_vectors(vectors: NDArray[np.float32]) -> bytes:
    """Return one vector, or the rows of several, as little-endian float16."""
    return vectors.astype(_VECTOR).tobytes()


def unpacked_vectors(packed: bytes, dimension: int) -> NDArray[np.float32]:
    """Return the rows that `packed_vectors` packed. Raises ValueError where they are not of this dimension."""
    return np.frombuffer(packed, _VECTOR).reshape(-1, dimension).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is stored of one text: its tokens, packed, and what is noted of it; made by `Entry.of` alone.

    `words` are not stored with the memory: the store adds them to its counts of words, and `vectors.text_vectors`
    makes the raw vector from them.
    """

    terms: bytes
    counts: bytes
    length: int  # tokens in all
    is_question: bool
    tells_time: bool
    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Entry:
        """Return the entry of `text`. Any text will do."""
        indexed = Indexed.of(text)
        terms, counts = packed_terms(indexed.tokens)
        return cls(terms, counts, len(indexed.tokens), indexed.is_question, indexed.tells_time, indexed.words)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows of memories by columns, in any order; all ids of an index differ, are short and hold no NUL.

    The tokens of all rows stand one after another, `sizes` of them for each row; so do the sentence vectors. A row
    of zeros among `vectors` or `windows` means that the memory has none.
    """

    ids: Sequence[str]
    terms: NDArray[np.uint64]
    counts: NDArray[np.uint16]
    sizes: NDArray[np.int64]  # distinct tokens of each row
    lengths: NDArray[np.float32]  # tokens in all
    vectors: NDArray[np.float16] | None  # raw
    threads: Sequence[str | None]
    positions: NDArray[np.int64]
    occurred: NDArray[np.int64]  # microseconds since 1970, EARLIEST where not known
    speakers: Sequence[str]  # names, one a line; "" for nobody
    questions: NDArray[np.bool_]
    telling: NDArray[np.bool_]
    captured: NDArray[np.int64]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    windows: NDArray[np.float16] | None = None
    sentences: NDArray[np.float16] | None = None
    sentence_sizes: NDArray[np.int64] | None = None  # of each row

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(
        cls,
        *,
        ids: Sequence[str],
        terms: Sequence[bytes],
        counts: Sequence[bytes],
        lengths: Sequence[int],
        vectors: Sequence[bytes | None] | None = None,
        threads: Sequence[str | None] | None = None,
        positions: Sequence[int | None] | None = None,
        occurred: Sequence[int | None] | None = None,
        speakers: Sequence[str | None] | None = None,
        questions: Sequence[bool | int] | None = None,
        telling: Sequence[bool | int] | None = None,
        captured: Sequence[int] | None = None,
        begins: Sequence[int | None] | None = None,
        ends: Sequence[int | None] | None = None,
        windows: Sequence[bytes | None] | None = None,
        sentences: Sequence[bytes | None] | None = None,
    ) -> Batch:
        """Return the batch of columns as a database keeps them: blobs as `Entry` and `packed_vectors` make them.

        A column that is left out holds nothing in any row; `begins` and `ends` are then for ever. An absent position
        counts as 0, speakers are names, one a line. Raises ValueError if columns do not fit together.
        """
        count = len(ids)
        given = (terms, counts, lengths, vectors, threads, positions, occurred, speakers, questions, telling)
        if any(len(column) != count for column in (*given, captured, begins, ends, windows, sentences) if column):
            raise ValueError("the columns of a batch are of different lengths")
        sizes = np.fromiter(map(len, terms), np.int64, count) // _TERM.itemsize
        amounts = np.fromiter(map(len, counts), np.int64, count) // _COUNT.itemsize
        if not np.array_equal(sizes, amounts):
            raise ValueError("each term needs its count")
        rows, dimension = _matrix(windows)
        parts, part_sizes = _parts(sentences, dimension) if rows is not None else (None, None)
        return cls(
            ids=ids,
            terms=np.frombuffer(b"".join(terms), _TERM),
            counts=np.frombuffer(b"".join(counts), _COUNT),
            sizes=sizes,
            lengths=np.array(lengths, dtype=np.float32),
            vectors=_matrix(vectors)[0],
            threads=threads or [None] * count,
            positions=_integers(positions, count, 0),
            occurred=_integers(occurred, count, EARLIEST),
            speakers=_filled(speakers, count),
            questions=np.array(questions if questions else [False] * count, dtype=np.bool_),
            telling=np.array(telling if telling else [False] * count, dtype=np.bool_),
            captured=_integers(captured, count, EARLIEST),
            begins=_integers(begins, count, EARLIEST),
            ends=_integers(ends, count, LATEST),
            windows=rows,
            sentences=parts,
            sentence_sizes=part_sizes,
        )

    @classmethod
    def joined(cls, parts: Sequence[Batch]) -> Batch:
        """Return the rows of several batches in one. Raises ValueError where their vectors differ in dimension."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls.of(ids=[], terms=[], counts=[], lengths=[])
        sizes = [len(part) for part in parts]
        windows = _strung([part.windows for part in parts], sizes)
        sentences = sentence_sizes = None
        if windows is not None:
            sentences = _strung([part.sentences for part in parts], [0] * len(parts))
            sentence_sizes = np.concatenate(
                [
                    np.zeros(size, dtype=np.int64) if part.sentence_sizes is None else part.sentence_sizes
                    for part, size in zip(parts, sizes, strict=True)
                ]
            )
        return cls(
            ids=[each for part in parts for each in part.ids],
            threads=[each for part in parts for each in part.threads],
            speakers=[each for part in parts for each in part.speakers],
            vectors=_strung([part.vectors for part in parts], sizes),
            windows=windows,
            sentences=sentences,
            sentence_sizes=sentence_sizes,
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in _PLAIN},
        )


_PLAIN = (
    *("terms", "counts", "sizes", "lengths", "positions", "occurred", "questions", "telling"),
    *("captured", "begins", "ends"),
)  # arrays that every batch has


def _filled(column: Sequence[str | None] | None, count: int) -> Sequence[str]:
    return [name or "" for name in column] if column else [""] * count


def _strung(parts: Sequence[NDArray[np.float16] | None], sizes: Sequence[int]) -> NDArray[np.float16] | None:
    """The rows of all parts, zeros for each row of a part that has none; None where none has any."""
    width = next((part.shape[1] for part in parts if part is not None), None)
    if width is None:
        return None
    return np.concatenate(
        [
            np.zeros((size, width), dtype=np.float16) if part is None else part
            for part, size in zip(parts, sizes, strict=True)
        ]
    )


def _integers(column: Sequence[int | None] | None, count: int, absent: int) -> NDArray[np.int64]:
    missing = column.count(None) if column else count
    if not column or missing == count:
        return np.full(count, absent, dtype=np.int64)
    filled = [absent if value is None else value for value in column] if missing else column
    return np.array(filled, dtype=np.int64)


def _matrix(column: Sequence[bytes | None] | None) -> tuple[NDArray[np.float16] | None, int]:
    """The vectors of a column, a row of zeros for each absent one, and their dimension; None where all are absent."""
    width = next((len(blob) for blob in column or () if blob), 0)
    if not column or not width:
        return None, 0
    if not all(column):
        nothing = bytes(width)
        column = [blob or nothing for blob in column]
    joined = np.frombuffer(b"".join(column), _VECTOR)  # type: ignore[arg-type]
    return joined.reshape(len(column), width // _VECTOR.itemsize), width // _VECTOR.itemsize


def _parts(column: Sequence[bytes | None] | None, dimension: int) -> tuple[NDArray[np.float16], NDArray[np.int64]]:
    blobs = [blob or b"" for blob in column or ()]
    sizes = np.array([len(blob) for blob in blobs], dtype=np.int64) // (dimension * _VECTOR.itemsize)
    return np.frombuffer(b"".join(blobs), _VECTOR).reshape(-1, dimension), sizes
