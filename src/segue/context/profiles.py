"""Profiles: how much of what suits the model that reads a pack (specification, section 3; facts, section 004.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from segue.base import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_BUDGET = 300
DEFAULT_BUDGET = 2_000
OVERHEAD = 12  # tokens that each item takes beside its text


class Weights(NamedTuple):
    """How much of an item's utility is relevance, recency and authority; together 1."""

    relevance: float
    recency: float
    authority: float


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of reader. `context_window` and `pack_budget` are tokens; `aliases` name it beside its own name."""

    name: str
    context_window: int
    pack_budget: int
    chars_per_token: float
    weights: Weights
    packer: Literal["greedy", "knapsack"] = "knapsack"
    aliases: tuple[str, ...] = ()

    def budget(self, asked: int) -> int:
        """Return the tokens of a pack for which `asked` are wanted: at least 300, at most the profile's own budget."""
        return min(max(asked, MIN_BUDGET), self.pack_budget)

    def tokens(self, text: str) -> int:
        """Return an estimate of the tokens of `text`, at least 1. The greedy packer counts characters alone."""
        plain = self.packer == "greedy"
        return tokens.plain(text, self.chars_per_token) if plain else tokens.estimate(text, self.chars_per_token)

    def cost(self, text: str) -> int:
        """Return the tokens that an item of that text takes in a pack."""
        return self.tokens(text) + OVERHEAD


GENERIC = Profile("generic", 8_192, 6_000, 4.0, Weights(0.60, 0.25, 0.15), "greedy")
CLAUDE = Profile(
    "claude",
    200_000,
    12_000,
    3.8,
    Weights(0.58, 0.27, 0.15),
    aliases=("claude", "anthropic", "opus", "sonnet", "haiku"),
)
GPT = Profile(
    "gpt",
    128_000,
    8_000,
    4.0,
    Weights(0.55, 0.25, 0.20),
    aliases=("chatgpt", "gpt", "openai", "o1", "o3", "4o"),
)
CURSOR = Profile(
    "cursor",
    32_000,
    3_000,
    3.6,
    Weights(0.72, 0.14, 0.14),
    aliases=("cursor", "copilot", "codex", "windsurf", "cline", "zed", "continue"),
)
PROFILES = (CLAUDE, GPT, CURSOR)

_PARTS = re.compile(r"[^\W_]+")


def resolve(model: str = "", surface: str = "", further: Sequence[Profile] = ()) -> Profile:
    """Return the profile of a model, else that of a surface where no profile knows the model, else `generic`.

    `further` are the user's own: they come before ours, and replace one of ours that has the same name. A name or an
    alias must be whole tokens in a row: `customized` is not `zed`, `llama-3-70b` is `llama-3`. Of several that fit,
    that of the most tokens counts, and of these the first.
    """
    replaced = {each.name for each in further}
    known = (*further, *(each for each in (*PROFILES, GENERIC) if each.name not in replaced))
    for text in (model, surface):
        parts = _parts(text)
        found = max(known, key=lambda each: _fit(each, parts))
        if _fit(found, parts):
            return found
    return next(each for each in known if each.name == GENERIC.name)


def _parts(text: str) -> str:
    """The tokens of `text`, each between spaces."""
    return f" {' '.join(_PARTS.findall(text.casefold()))} "


def _fit(profile: Profile, parts: str) -> int:
    """How many tokens of `parts` name the profile, 0 where it is not named."""
    names = (_parts(name) for name in (profile.name, *profile.aliases))
    return max((len(name.split()) for name in names if name in parts), default=0)
