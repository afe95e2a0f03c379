"""The chain of receipts as a value: whatever is done to its files, it does not pass for the one that was issued."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base import jsontext
from segue.base.errors import InvalidInput
from segue.continuity import chain, receipt

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.continuity.receipt import Receipt

AT = datetime(2026, 5, 4, tzinfo=UTC)


def issued(count: int, digit: str = "a") -> list[Receipt]:
    made: list[Receipt] = []
    for number in range(1, count + 1):
        artifact = receipt.Artifact(f"note-{number % 2}.md", digit * 64, number)
        made.append(receipt.make(number, [artifact], previous=made[-1].receipt_hash if made else None, now=AT))
    return made


def files_of(receipts: list[Receipt]) -> dict[int, bytes]:
    return {each.number: jsontext.dump(each.to_json(), indent=True) for each in receipts}


WHOLE = issued(5)
OTHER = issued(6, "b")  # as sound a chain as the first, issued elsewhere
HEAD = (5, WHOLE[-1].receipt_hash)


def test_what_was_issued_holds() -> None:
    found = chain.read(files_of(WHOLE), HEAD)
    assert (found.receipts, found.problem) == (tuple(WHOLE), None)
    assert {path: each.tx_id for path, each in found.newest.items()} == {"note-0.md": "TX-0004", "note-1.md": "TX-0005"}
    assert chain.read({}, (0, "")) == chain.Chain()


def delete(files: dict[int, bytes], one: int, _: int) -> None:
    files.pop(one, None)


def swap(files: dict[int, bytes], one: int, other: int) -> None:
    if one in files and other in files:
        files[one], files[other] = files[other], files[one]


def copy(files: dict[int, bytes], one: int, other: int) -> None:
    files[other] = files.get(one, b"")


def replace(files: dict[int, bytes], one: int, _: int) -> None:
    files[one] = files_of(OTHER)[one]


def replace_from(files: dict[int, bytes], one: int, _: int) -> None:
    files |= {number: data for number, data in files_of(OTHER).items() if number >= one}


def flip(files: dict[int, bytes], one: int, at: int) -> None:
    if files.get(one):
        data = bytearray(files[one])
        data[at * 97 % len(data)] ^= 1
        files[one] = bytes(data)


def cut(files: dict[int, bytes], one: int, by: int) -> None:
    files[one] = files.get(one, b"")[: -10 * by]


def go_on(files: dict[int, bytes], *_: int) -> None:
    following = receipt.make(6, WHOLE[0].artifacts, previous=WHOLE[-1].receipt_hash, now=AT)
    files[6] = jsontext.dump(following.to_json())


def says_the_same(files: dict[int, bytes]) -> bool:
    try:
        return {number: jsontext.parse(data) for number, data in files.items()} == {
            each.number: each.to_json() for each in WHOLE
        }
    except InvalidInput:
        return False


CHANGES = st.sampled_from([delete, swap, copy, replace, replace_from, flip, cut, go_on])


@given(st.lists(st.tuples(CHANGES, st.integers(1, 6), st.integers(1, 60)), min_size=1, max_size=3))
@settings(max_examples=200)
@pytest.mark.requirement("continuity-receipt-chain")
def test_whatever_is_done_to_the_files_is_found(changes: list[tuple[Callable[..., None], int, int]]) -> None:
    files = files_of(WHOLE)
    for change, one, other in changes:
        change(files, one, other)
    found = chain.read(files, HEAD)
    assert (found.problem is None) == says_the_same(files)
    assert all(each == WHOLE[place] or each in OTHER for place, each in enumerate(found.receipts))
