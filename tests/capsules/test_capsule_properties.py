"""What holds for every capsule, and for every sequence of bytes."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from capsule_oracle import is_valid
from capsule_random import capsules, mutated, random_capsule
from capsule_samples import BASE
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import InvalidInput
from segue.capsules import (
    CAPS,
    MAX_CHARS,
    PRIORITIES,
    Capsule,
    Chain,
    Policy,
    check,
    clean,
    fit,
    parse,
    read,
    render,
    stamp,
    stitch,
)

NOW = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
steady = settings(derandomize=True, deadline=None, database=None, max_examples=100)


@steady
@given(capsules)
def test_round_trip(capsule: Capsule) -> None:
    text = render(capsule)
    assert is_valid(text.encode())
    assert check(text).errors == ()
    assert parse(text) == parse(text.encode()) == capsule
    assert render(parse(text)) == text


@pytest.mark.requirement("capsules-43")
@pytest.mark.requirement("capsules-44")
@pytest.mark.parametrize("policy", ["exact", "balanced"])
@pytest.mark.parametrize("seed", range(4))
def test_a_chain_of_300_hops_stays_valid(seed: int, policy: Policy) -> None:
    rng = random.Random(seed)
    current = random_capsule(rng)
    origin = current.chain.origin if current.chain else current.meta.timestamp
    hops = current.chain.hops if current.chain else 0
    for hop in range(1, 301):
        latest = random_capsule(rng)
        result = stitch(current, latest, policy=policy)
        text = render(result.capsule)
        assert len(text) <= MAX_CHARS
        assert is_valid(text.encode())
        assert all(len(layer) <= cap for layer, cap in zip(result.capsule.layers, CAPS, strict=True))
        assert (result.hops, result.origin) == (hops + hop, origin)
        assert render(stitch(render(current), render(latest), policy=policy).capsule) == text
        _nothing_is_lost(current, latest, result.capsule, {line.entry for line in (*result.replaced, *result.dropped)})
        current = result.capsule


def _nothing_is_lost(old: Capsule, new: Capsule, result: Capsule, reported: set[str]) -> None:
    before = {entry.line for capsule in (old, new) for layer in capsule.layers for entry in layer}
    after = {entry.line for layer in result.layers for entry in layer}
    assert after <= before
    assert before == after | reported


def _room_for_chain(capsule: Capsule) -> bool:
    return len(render(replace(capsule, version="v1.2", chain=capsule.chain or Chain(1, capsule.meta.timestamp)))) < 1199


@steady
@given(capsules)
def test_a_capsule_stitched_to_itself_changes_only_token_and_chain(capsule: Capsule) -> None:
    one_each: dict[str, Any] = {}
    for name in ("skeleton", "negative", "internal", "relation", "loops"):
        one_each[name] = tuple({entry.key: entry for entry in getattr(capsule, name)}.values())
    one_each["loops"] = tuple(sorted(one_each["loops"], key=lambda loop: PRIORITIES.index(loop.priority)))
    sound = replace(capsule, **one_each)
    if not _room_for_chain(sound):
        return
    result = stitch(sound, sound)
    chain = Chain(sound.chain.hops + 1, sound.chain.origin) if sound.chain else Chain(1, sound.meta.timestamp)
    assert result.capsule == replace(sound, version="v1.2", chain=replace(chain, hops=min(chain.hops, 999_999_999)))
    assert (result.replaced, result.dropped) == ((), ())


@pytest.mark.requirement("capsules-C11")
@steady
@given(capsules, st.data())
def test_one_changed_byte_is_found(capsule: Capsule, data: st.DataObject) -> None:
    text = bytearray(render(replace(fit(capsule, integrity=True).capsule, version="v1.2")).encode())
    place = data.draw(st.integers(0, len(text) - 1))
    text[place] ^= data.draw(st.integers(1, 255))
    assert not check(bytes(text)).valid


def _survives(data: bytes) -> None:
    report = check(data)
    assert report.valid is is_valid(data), data
    assert all(problem.code in {f"C{n}" for n in range(1, 13)} for problem in report.errors)
    assert all(problem.line >= 1 and problem.column >= 1 and problem.message for problem in report.errors)
    for act in (
        parse,
        fit,
        stamp,
        lambda source: read(source, NOW),
        lambda source: stitch(source, BASE),
        lambda source: stitch(BASE, source, policy="balanced"),
    ):
        try:
            act(data)
        except InvalidInput as error:
            assert error.code.startswith("capsule.")
            assert not report.valid or error.code == "capsule.cannot_fit"
    clean(data)


@steady
@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    _survives(data)


@pytest.mark.parametrize("seed", range(3))
def test_damaged_capsules_agree_with_the_oracle(seed: int) -> None:
    rng = random.Random(seed)
    valid = 0
    for _ in range(700):
        text = render(random_capsule(rng))
        data = mutated(rng, text.replace("\n\nL3", "\nL3") if rng.random() < 0.2 else text)
        _survives(data)
        valid += check(data).valid
    assert 20 < valid < 600


@steady
@given(capsules)
def test_fitting_keeps_order_and_reports_the_rest(capsule: Capsule) -> None:
    longer = replace(capsule, negative=(*capsule.negative, *parse(BASE).negative)[:8], loops=parse(BASE).loops * 4)
    try:
        result = fit(render(longer))
    except InvalidInput as error:
        assert error.code == "capsule.cannot_fit"
        return
    assert is_valid(render(result.capsule).encode())
    kept = [entry.line for layer in result.capsule.layers for entry in layer]
    given_lines = [entry.line for layer in longer.layers for entry in layer]
    assert sorted(kept + [line.entry for line in result.dropped]) == sorted(given_lines)
    remaining = iter(given_lines)
    assert all(line in remaining for line in kept)
    assert result.capsule.skeleton == longer.skeleton


@steady
@given(capsules)
def test_a_fenced_quoted_windows_copy_comes_back(capsule: Capsule) -> None:
    text = render(capsule)
    pasted = "> ```\r\n" + "".join(f"> {line}\r\n" for line in text.splitlines()) + "> ```\r\n"
    if text.count("===END===\n") == text.count("===END==="):
        assert clean(pasted).text == text
