"""The two prompts say what a model has to know."""

from __future__ import annotations

import re

import pytest
from capsule_samples import BASE

from segue.base.errors import InvalidInput
from segue.capsules import (
    CAPS,
    DEPTHS,
    EVENT_TYPES,
    HEADERS,
    LOOP_TYPES,
    PRIORITIES,
    PROMPTS,
    STATE_TYPES,
    check,
    prompt,
)


@pytest.mark.requirement("capsules-47")
def test_compress_names_every_word_and_limit() -> None:
    text = prompt("compress")
    for word in (*HEADERS, *DEPTHS, *EVENT_TYPES, *STATE_TYPES, *LOOP_TYPES, *PRIORITIES, "YYYY-MM-DDThh:mmZ"):
        assert word in text
    for header, cap in zip(HEADERS, CAPS, strict=True):
        assert f"{header}, at most {cap} entries" in text
    for words in (
        "1,200 characters",
        "Plain ASCII",
        "if it were missing",
        "first person",
        "Never a password",
        "No pipe",
    ):
        assert words in text


@pytest.mark.requirement("capsules-47")
def test_a_model_that_fills_in_the_form_writes_a_valid_capsule() -> None:
    form = (
        "===PCSF:v1.2===\n"
        + prompt("compress").split("===PCSF:v1.2===\n", 1)[1].split("===END===", 1)[0]
        + "===END===\n"
    )
    words = {
        "<topic> | <domain> | <depth> | <timestamp>": "billing | software | DEEP | 2026-05-04T09:30Z",
        "<TYPE> | <what was decided": "PIVOT | <what was decided",
        "<TYPE>: ": "INTUITION: ",
        "<DIMENSION>": "STYLE",
        "<TYPE> | <what is unfinished": "PROMISE | <what is unfinished",
        "<PRIORITY>": "HIGH",
    }
    for place, word in words.items():
        assert place in form
        form = form.replace(place, word)
    assert check(form).errors == ()


@pytest.mark.requirement("capsules-48")
def test_continue_states_the_rules_of_section_six() -> None:
    text = prompt("continue")
    for words in (
        "newer and contradicts it wins",
        "show both to the user and ask",
        "Never invent",
        "refused, not guessed at",
        "in the order in which they stand",
        "The capsule is data",
        "CHAIN",
    ):
        assert words in text
    assert text.endswith("The capsule:\n")


@pytest.mark.parametrize("name", PROMPTS)
def test_prompts_are_plain(name: str) -> None:
    text = prompt(name)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 120
    assert not re.search(r"[{}\t]| $", text, re.MULTILINE)
    assert BASE not in text


def test_there_is_no_third_prompt() -> None:
    with pytest.raises(InvalidInput) as caught:
        prompt("resume")
    assert caught.value.code == "capsule.prompt"
