"""Profiles: their constants, which one a name means, what budgets become, and those that a user adds."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base import tokens
from segue.base.errors import InvalidInput
from segue.context.profile_settings import parse
from segue.context.profiles import CLAUDE, CURSOR, DEFAULT_BUDGET, GENERIC, GPT, OVERHEAD, Profile, Weights, resolve

OURS = (GENERIC, CLAUDE, GPT, CURSOR)


@pytest.mark.requirement("context-profiles-table")
@pytest.mark.parametrize(
    ("profile", "name", "window", "budget", "chars", "weights", "packer"),
    [
        (GENERIC, "generic", 8_192, 6_000, 4.0, (0.60, 0.25, 0.15), "greedy"),
        (CLAUDE, "claude", 200_000, 12_000, 3.8, (0.58, 0.27, 0.15), "knapsack"),
        (GPT, "gpt", 128_000, 8_000, 4.0, (0.55, 0.25, 0.20), "knapsack"),
        (CURSOR, "cursor", 32_000, 3_000, 3.6, (0.72, 0.14, 0.14), "knapsack"),
    ],
)
def test_the_table(
    profile: Profile, name: str, window: int, budget: int, chars: float, weights: tuple[float, ...], packer: str
) -> None:
    assert (profile.name, profile.context_window, profile.pack_budget) == (name, window, budget)
    assert (profile.chars_per_token, tuple(profile.weights), profile.packer) == (chars, weights, packer)
    assert (profile.weights.relevance, profile.weights.recency, profile.weights.authority) == weights


@pytest.mark.requirement("context-profiles-table")
def test_an_item_takes_twelve_tokens_beside_its_text() -> None:
    assert (OVERHEAD, DEFAULT_BUDGET) == (12, 2_000)
    for profile in OURS:
        assert profile.cost("") == 13
        assert profile.cost("Rows keep their order.") == profile.tokens("Rows keep their order.") + 12


@pytest.mark.requirement("context-profiles-table")
def test_generic_counts_characters_alone() -> None:
    text = "发票保存十年。" * 20
    assert GENERIC.tokens(text) == tokens.plain(text, 4.0) == 35
    assert GPT.tokens(text) == tokens.estimate(text, 4.0) > 100


@pytest.mark.requirement("context-profiles-resolution")
@pytest.mark.parametrize(
    ("model", "profile"),
    [
        ("claude-3-5-sonnet", CLAUDE),
        ("Claude Opus 4", CLAUDE),
        ("anthropic", CLAUDE),
        ("anthropic/claude", CLAUDE),
        ("sonnet", CLAUDE),
        ("us.anthropic.haiku:1", CLAUDE),
        ("gpt-4o", GPT),
        ("gpt_4_turbo", GPT),
        ("chatgpt", GPT),
        ("ChatGPT-4o-latest", GPT),
        ("openai/whatever", GPT),
        ("o1", GPT),
        ("o1-mini", GPT),
        ("o3", GPT),
        ("cursor", CURSOR),
        ("cursor-agent", CURSOR),
        ("GitHub Copilot", CURSOR),
        ("codex", CURSOR),
        ("windsurf", CURSOR),
        ("cline", CURSOR),
        ("zed", CURSOR),
        ("continue.dev", CURSOR),
        ("gpt-cursor", GPT),  # of ours, the first in the table's order
        ("gpt claude", CLAUDE),
        ("generic", GENERIC),
        ("command-r-plus", GENERIC),
        ("customized", GENERIC),
        ("decline", GENERIC),
        ("my-clineage", GENERIC),
        ("zedong", GENERIC),
        ("octopus", GENERIC),
        ("gpt4all", GENERIC),
        ("o11", GENERIC),
        ("proto3", GENERIC),
        ("llama-3-70b", GENERIC),
        ("", GENERIC),
        ("-- / --", GENERIC),
        ("клод", GENERIC),
    ],
)
def test_a_name_is_resolved_by_whole_tokens(model: str, profile: Profile) -> None:
    assert resolve(model) is profile
    assert resolve(surface=model) is profile


@pytest.mark.requirement("context-profiles-resolution")
@pytest.mark.parametrize(
    ("model", "surface", "profile"),
    [
        ("gpt-4o", "claude-code", GPT),
        ("claude-3-5-sonnet", "cursor", CLAUDE),
        ("opus", "codex", CLAUDE),
        ("generic", "cursor", GENERIC),
        ("llama-3-70b", "cursor", CURSOR),
        ("", "windsurf", CURSOR),
        ("customized", "zed", CURSOR),
        ("customized", "agent", GENERIC),
    ],
)
def test_the_model_decides_and_the_surface_where_it_names_none(model: str, surface: str, profile: Profile) -> None:
    assert resolve(model, surface) is profile


@pytest.mark.requirement("context-profiles-resolution")
@given(st.text(max_size=20), st.text(max_size=20))
@settings(max_examples=100)
def test_any_name_is_resolved(model: str, surface: str) -> None:
    assert resolve(model, surface) in OURS


@pytest.mark.requirement("context-profiles-clamp")
@pytest.mark.parametrize("profile", OURS, ids=lambda profile: profile.name)
def test_a_budget_is_clamped_into_the_profiles_range(profile: Profile) -> None:
    most = profile.pack_budget
    for asked, allowed in (
        (1, 300),
        (0, 300),
        (-5, 300),
        (299, 300),
        (300, 300),
        (301, 301),
        (2_000, 2_000),
        (most - 1, most - 1),
        (most, most),
        (most + 1, most),
        (10**9, most),
    ):
        assert profile.budget(asked) == allowed
    assert GENERIC.budget(10**9) == 6_000


# What users add.


def added(text: str) -> tuple[Profile, ...]:
    return parse(tomllib.loads(text), "/home/settings.toml")


FULL = """
[project]
id = "importer"

[context.profiles.Llama-3]
context_window = 16000
pack_budget = 5000
chars_per_token = 3
weights = [0.5, 0.25, 0.25]
aliases = ["Meta", "mistral.large"]

[context.profiles.small]
pack_budget = 300
"""


def test_a_profile_of_the_users_own() -> None:
    llama, small = added(FULL)
    assert llama == Profile(
        "llama-3", 16_000, 5_000, 3.0, Weights(0.5, 0.25, 0.25), "knapsack", ("meta", "mistral.large")
    )
    assert isinstance(llama.weights, Weights)
    assert small == Profile("small", 8_192, 300, 4.0, GENERIC.weights, "knapsack")


def test_a_window_that_is_left_out_holds_the_pack() -> None:
    (big,) = added("[context.profiles.big]\npack_budget = 20000")
    assert (big.context_window, big.pack_budget) == (20_000, 20_000)


@pytest.mark.parametrize("text", ["", "[project]\nid = 'x'", "[context]", "[context]\nother = 1", "[context.profiles]"])
def test_a_file_without_profiles_adds_none(text: str) -> None:
    assert added(text) == ()


@pytest.mark.requirement("context-profiles-resolution")
@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("llama-3-70b", "llama-3"),
        ("LLAMA 3.1", "llama-3"),
        ("meta", "llama-3"),
        ("mistral-large-2", "llama-3"),
        ("mistral-small", "small"),
        ("llama-2-70b", "generic"),
        ("3-llama", "generic"),
        ("llama-30b", "generic"),
        ("ollama-3", "generic"),
    ],
)
def test_a_name_of_several_tokens_must_stand_in_a_row(model: str, name: str) -> None:
    assert resolve(model, further=added(FULL)).name == name


@pytest.mark.requirement("context-profiles-resolution")
def test_the_users_profiles_come_before_ours_and_the_longer_name_before_the_shorter() -> None:
    further = added(
        """
        [context.profiles.mine]
        pack_budget = 4000
        aliases = ["sonnet", "zed"]
        [context.profiles.claude]
        pack_budget = 20000
        [context.profiles.claude-haiku]
        pack_budget = 1000
        """
    )
    for model, surface, name in (
        ("sonnet", "", "mine"),
        ("claude-sonnet", "", "mine"),
        ("opus", "", "claude"),
        ("claude-haiku-4", "", "claude-haiku"),
        ("gpt-4o", "zed", "gpt"),
        ("unknown", "zed", "mine"),
        ("unknown", "cursor", "cursor"),
    ):
        assert resolve(model, surface, further).name == name
    assert resolve("opus", further=further).pack_budget == 20_000


@pytest.mark.requirement("context-profiles-resolution")
def test_one_of_ours_is_replaced_by_the_name() -> None:
    (claude,) = added("[context.profiles.CLAUDE]\npack_budget = 20000")
    assert claude == Profile("claude", 200_000, 20_000, 3.8, CLAUDE.weights, "knapsack", CLAUDE.aliases)
    assert resolve("haiku", further=[claude]) is claude
    (narrow,) = added('[context.profiles.claude]\npack_budget = 20000\naliases = ["opus"]')
    assert resolve("opus", further=[narrow]) is narrow
    assert resolve("claude", further=[narrow]) is narrow
    assert resolve("haiku", further=[narrow]) is GENERIC  # the built-in profile is not there any more
    (generic,) = added("[context.profiles.generic]\npack_budget = 1500")
    assert (generic.packer, generic.context_window) == ("greedy", 8_192)
    assert resolve("unknown", "agent", [generic]) is generic


@pytest.mark.requirement("context-profiles-clamp")
def test_the_budget_of_the_users_profile_clamps() -> None:
    (small,) = added("[context.profiles.small]\npack_budget = 700")
    assert (small.budget(1), small.budget(500), small.budget(10**9)) == (300, 500, 700)


def _with(lines: str) -> str:
    return f"[context.profiles.p]\npack_budget = 1000\n{lines}"


WRONG: list[tuple[str, str]] = [
    ("context = 1", "context"),
    ("context = [1]", "context"),
    ("[context]\nprofiles = 'p'", "context.profiles"),
    ("[[context.profiles]]\npack_budget = 1000", "context.profiles"),
    ("[context.profiles]\np = 1000", "context.profiles.p"),
    ("[context.profiles.p]", "context.profiles.p.pack_budget"),
    ("[context.profiles.p]\naliases = ['x']", "context.profiles.p.pack_budget"),
    *(
        (f"[context.profiles.{name}]\npack_budget = 1000", "context.profiles")
        for name in ('""', '"a b"', '"-a"', '"ж"')
    ),
    (f"[context.profiles.{'a' * 41}]\npack_budget = 1000", "context.profiles"),
    ('[context.profiles."p\\n"]\npack_budget = 1000', "context.profiles"),
    ("[context.profiles.p]\npack_budget = 1000\n[context.profiles.P]\npack_budget = 1000", "context.profiles.P"),
    *(
        (f"[context.profiles.p]\npack_budget = {value}", "context.profiles.p.pack_budget")
        for value in ("299", "-1", "true", "1000.0", "'1000'", "nan", "[1000]", "10000001", "1" + "0" * 400)
    ),
    *(
        (_with(f"context_window = {value}"), "context.profiles.p.context_window")
        for value in ("299", "true", "8192.0", "'8192'", "inf", "10000001")
    ),
    (_with("context_window = 999"), "context.profiles.p.pack_budget"),
    *(
        (_with(f"chars_per_token = {value}"), "context.profiles.p.chars_per_token")
        for value in ("0", "0.99", "8.01", "-4", "true", "'4'", "nan", "inf", "-inf", "[4]", "1" + "0" * 400)
    ),
    *(
        (_with(f"weights = {value}"), "context.profiles.p.weights")
        for value in (
            "1",
            "[]",
            "[1.0]",
            "[0.5, 0.5]",
            "[0.25, 0.25, 0.25, 0.25]",
            "[0.6, 0.3, 0.2]",
            "[0.3, 0.3, 0.3]",
            "[1.5, -0.25, -0.25]",
            "[nan, 0.5, 0.5]",
            "[true, 0, 0]",
            "['1', 0, 0]",
            "{relevance = 1.0}",
        )
    ),
    *(
        (_with(f"aliases = {value}"), "context.profiles.p.aliases")
        for value in ("'x'", "[1]", "['']", "['a b']", "['-']", "['é']", f"['{'a' * 41}']", str(["a"] * 33))
    ),
    (_with("budget = 5"), "context.profiles.p"),
    (_with('"ignore all of\\nthis" = 5'), "context.profiles.p"),
]


@pytest.mark.parametrize(("text", "key"), WRONG)
def test_a_bad_value_is_refused_with_file_and_key(text: str, key: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        added(text)
    assert refused.value.code == "config.invalid"
    assert refused.value.details == {"file": "/home/settings.toml", "key": key}
    assert refused.value.message.startswith(f"/home/settings.toml: {key} ")
    assert refused.value.message.isprintable()
    assert len(refused.value.message) < 250


def test_the_limits_themselves_are_accepted() -> None:
    name = "a" * 40
    for lines, attribute, value in (
        ("context_window = 10000000", "context_window", 10_000_000),
        ("context_window = 1000", "context_window", 1_000),
        ("chars_per_token = 1", "chars_per_token", 1.0),
        ("chars_per_token = 8.0", "chars_per_token", 8.0),
        ("weights = [1, 0, 0]", "weights", Weights(1.0, 0.0, 0.0)),
        ("weights = [0.333, 0.333, 0.334]", "weights", Weights(0.333, 0.333, 0.334)),
        (f"aliases = {[name] * 32}", "aliases", (name,) * 32),
        ("aliases = []", "aliases", ()),
    ):
        (profile,) = added(_with(lines))
        assert getattr(profile, attribute) == value
    assert added(f'[context.profiles."{name}"]\npack_budget = 10000000')[0].pack_budget == 10_000_000


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
TABLES = st.fixed_dictionaries(
    {},
    optional={
        "pack_budget": st.integers(200, 9_000) | VALUES,
        "context_window": st.integers(200, 9_000) | VALUES,
        "chars_per_token": st.floats(0.5, 9) | VALUES,
        "weights": st.just([0.5, 0.25, 0.25]) | VALUES,
        "aliases": st.just(["x"]) | VALUES,
    },
)


@given(TABLES | VALUES)
@settings(max_examples=150)
def test_any_table_gives_a_sound_profile_or_is_refused(table: Any) -> None:
    try:
        (profile,) = parse({"context": {"profiles": {"p": table}}}, "file")
    except InvalidInput as refused:
        assert refused.code == "config.invalid"
        return
    assert 300 <= profile.pack_budget <= profile.context_window
    assert sum(profile.weights) == pytest.approx(1)
    assert profile.cost("text") > OVERHEAD
    assert resolve("p", further=[profile]) is profile
