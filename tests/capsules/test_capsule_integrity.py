"""The INTEGRITY line: its values, its fixed point, and what it finds."""

from __future__ import annotations

import re
import zlib
from dataclasses import replace

import pytest
from capsule_samples import BASE, CHAIN, EMPTY, META, capsule, edited

from segue.base.errors import InvalidInput
from segue.capsules import check, parse, render, stamp

LINE = re.compile(r"INTEGRITY: crc32=([0-9a-f]{8}) chars=([1-9][0-9]*)\n")


@pytest.mark.requirement("capsules-15")
@pytest.mark.requirement("capsules-16")
@pytest.mark.parametrize("text", [BASE, EMPTY, edited((META, META + CHAIN)), capsule(token="v1")])
def test_stamp(text: str) -> None:
    stamped = render(stamp(text))
    match = LINE.search(stamped)
    assert match is not None
    assert stamped.replace(match[0], "") == text
    assert int(match[1], 16) == zlib.crc32(text.encode())
    assert int(match[2]) == len(stamped)
    assert stamped.index("INTEGRITY:") == text.index("\n\n") + 1
    assert check(stamped).errors == ()


@pytest.mark.requirement("capsules-16")
@pytest.mark.parametrize("size", range(955, 975))
def test_the_count_counts_its_own_digits(size: int) -> None:
    text = capsule(seed="x" * (size - len(capsule(seed=""))))
    assert len(text) == size
    stamped = render(stamp(text))
    assert stamped.split("chars=")[1].split("\n")[0] == str(len(stamped))
    assert len(stamped) == (size + 36 if size <= 963 else size + 37)


@pytest.mark.requirement("capsules-C11")
def test_the_count_includes_the_final_line_feed() -> None:
    report = check(render(stamp(BASE)).removesuffix("\n"))
    assert [problem.code for problem in report.errors] == ["C11", "C11"]
    assert "was cut or added to" in report.errors[1].message


@pytest.mark.requirement("capsules-C11")
def test_either_value_alone_is_enough_to_reject() -> None:
    good = render(stamp(BASE))
    match = LINE.search(good)
    assert match is not None
    other = f"{(int(match[1], 16) + 1) % 2**32:08x}"
    for bad in (good.replace(match[1], other), good.replace(f"chars={match[2]}", f"chars={int(match[2]) - 1}")):
        assert [problem.code for problem in check(bad).errors] == ["C11"]
        with pytest.raises(InvalidInput) as caught:
            parse(bad)
        assert caught.value.code == "capsule.C11"


@pytest.mark.requirement("capsules-C11")
@pytest.mark.parametrize("text", [BASE, EMPTY, edited((META, META + CHAIN))])
def test_each_flipped_bit_is_found(text: str) -> None:
    data = bytearray(render(stamp(text)).encode())
    for place in range(len(data)):
        for bit in range(8):
            data[place] ^= 1 << bit
            assert not check(bytes(data)).valid, (place, bit)
            data[place] ^= 1 << bit
    assert check(bytes(data)).valid


@pytest.mark.requirement("capsules-17")
def test_the_line_has_to_fit() -> None:
    room = 1200 - len(capsule(seed="")) - 37
    assert len(render(stamp(capsule(seed="x" * room)))) == 1200
    with pytest.raises(InvalidInput) as caught:
        stamp(capsule(seed="x" * (room + 3)))
    assert caught.value.code == "capsule.cannot_fit"
    assert caught.value.details == {"over": 3}


def test_a_stale_line_is_stamped_again() -> None:
    stale = render(stamp(BASE)).replace("read in pages", "read by pages")
    assert [problem.code for problem in check(stale).errors] == ["C11"]
    assert check(render(stamp(stale))).valid
    assert render(stamp(stale)) == render(stamp(BASE.replace("read in pages", "read by pages")))


def test_a_value_never_holds_a_stale_line() -> None:
    value = parse(render(stamp(BASE)))
    assert value.stamped
    assert check(render(replace(value, seed="Another sentence."))).valid
    assert render(replace(value, stamped=False)) == BASE


def test_leading_zeros_of_the_count_are_read() -> None:
    good = render(stamp(BASE))
    size = len(good)
    assert check(good.replace(f"chars={size}", f"chars=0{size + 1}")).valid
