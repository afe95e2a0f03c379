"""Profiles that a user adds in a file of settings, each as a table:

    [context.profiles.llama-3]
    pack_budget = 5000            # tokens of a pack at most
    context_window = 16000        # the rest is optional
    chars_per_token = 3.7         # of English prose
    weights = [0.6, 0.2, 0.2]     # relevance, recency, authority; together 1
    aliases = ["llama3", "meta"]  # what else names it in a model's name

What is left out is that of the built-in profile of the same name, else that of `generic`, packed by the knapsack.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from segue.base.errors import InvalidInput
from segue.context.profiles import GENERIC, MIN_BUDGET, PROFILES, Profile, Weights

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_TOKENS = 10_000_000  # of a context window, and of a pack
MIN_CHARS, MAX_CHARS = 1.0, 8.0  # per token
MAX_ALIASES = 32

# A repository's settings may be a stranger's, and the name goes into the pack: no sentence fits in here.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_NAMES = "write letters, digits, dots, hyphens or underscores, 40 at most, a letter or a digit first"
_KEYS = ("context_window", "pack_budget", "chars_per_token", "weights", "aliases")
_BUILT_IN = {each.name: each for each in (*PROFILES, GENERIC)}


def parse(document: Mapping[str, Any], file: str) -> tuple[Profile, ...]:
    """Return the profiles that a parsed file of settings holds, in its order; `file` is its name, for refusals.

    Raises InvalidInput `config.invalid`, which names the file and the key, never the value.
    """
    settings = _Settings(file)
    context = settings.table(document.get("context", {}), "context")
    tables = settings.table(context.get("profiles", {}), "context.profiles")
    found: dict[str, Profile] = {}
    for name, given in tables.items():
        if not _NAME.fullmatch(name):
            raise settings.wrong("context.profiles", f"has a name that is none: {name[:40]!a}; {_NAMES}")
        profile = settings.profile(given, name)
        if profile.name in found:
            raise settings.wrong(f"context.profiles.{name}", "stands twice, in capitals and in small letters")
        found[profile.name] = profile
    return tuple(found.values())


class _Settings:
    """Reads values out of one file, and refuses those that are wrong."""

    def __init__(self, file: str) -> None:
        self._file = file

    def wrong(self, key: str, why: str) -> InvalidInput:
        return InvalidInput("config.invalid", f"{self._file}: {key} {why}", {"file": self._file, "key": key})

    def table(self, value: object, key: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self.wrong(key, "must be a table")
        return value

    def profile(self, value: object, name: str) -> Profile:
        key = f"context.profiles.{name}"
        given = self.table(value, key)
        unknown = next((each for each in given if each not in _KEYS), None)
        if unknown is not None:
            raise self.wrong(key, f"has a key that is not known: {unknown[:40]!a}; it takes {', '.join(_KEYS)}")
        if "pack_budget" not in given:
            raise self.wrong(f"{key}.pack_budget", "is missing: say how many tokens a pack may take")
        folded = name.casefold()
        base = _BUILT_IN.get(folded) or replace(GENERIC, name=folded, packer="knapsack")
        budget = self._whole(given["pack_budget"], f"{key}.pack_budget")
        window = max(base.context_window, budget)
        if "context_window" in given:
            window = self._whole(given["context_window"], f"{key}.context_window")
        if budget > window:
            raise self.wrong(f"{key}.pack_budget", f"is larger than the context window of {window} tokens")
        return replace(
            base,
            context_window=window,
            pack_budget=budget,
            chars_per_token=self._chars(given.get("chars_per_token", base.chars_per_token), f"{key}.chars_per_token"),
            weights=self._weights(given.get("weights", list(base.weights)), f"{key}.weights"),
            aliases=self._aliases(given.get("aliases", list(base.aliases)), f"{key}.aliases"),
        )

    def _whole(self, value: object, key: str) -> int:
        if type(value) is not int or not MIN_BUDGET <= value <= MAX_TOKENS:
            raise self.wrong(key, f"must be a whole number from {MIN_BUDGET} to {MAX_TOKENS}")
        return value

    def _chars(self, value: object, key: str) -> float:
        number = _number(value)
        if not MIN_CHARS <= number <= MAX_CHARS:
            raise self.wrong(key, f"must be a number from {MIN_CHARS:g} to {MAX_CHARS:g}")
        return number

    def _weights(self, value: object, key: str) -> Weights:
        numbers = [_number(each) for each in value] if isinstance(value, list) else []
        parts = len(Weights._fields)
        if len(numbers) != parts or not all(0 <= each <= 1 for each in numbers) or abs(sum(numbers) - 1) > 1e-6:
            raise self.wrong(key, "must be three numbers from 0 to 1, together 1: relevance, recency, authority")
        return Weights(*numbers)

    def _aliases(self, value: object, key: str) -> tuple[str, ...]:
        if not isinstance(value, list) or len(value) > MAX_ALIASES:
            raise self.wrong(key, f"must be a list of at most {MAX_ALIASES} texts")
        if not all(isinstance(each, str) and _NAME.fullmatch(each) for each in value):
            raise self.wrong(key, f"must name models by their tokens: {_NAMES}")
        return tuple(each.casefold() for each in value)


def _number(value: object) -> float:
    """The number that `value` is, NaN where it is none; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value) if abs(value) <= MAX_TOKENS else math.nan  # a whole number may be too large for a float
