"""What a tool is, what it answers, and how long that may be."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base import tokens
from segue.base.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.app import Segue

MOST_CHARACTERS = 48_000
MOST_TOKENS = 12_000
_ROOM = 0.97  # of both: what the protocol puts around an answer finds its place too
_CHARACTERS_PER_TOKEN = 4.0
_LEAST_PAGE = 2_000
_CUT = "\n… cut here: the answer was too long; read it with `segue show --raw`"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool gives back: `text` for the model, `data` the same as JSON values where there is structure."""

    text: str
    data: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as hosts see it; `read_only`, `destructive` and `idempotent` are hints for them.

    `output` is the schema of its structure, None where it answers with a text alone. `question` gives what a person is
    asked before it runs; only destructive tools have one. `of_host` says that it speaks with the packet host, by the
    user's sign-in on this machine: no server over the network has such tools.
    """

    name: str
    description: str
    properties: dict[str, Any]
    run: Callable[[Segue, dict[str, Any]], Answer]
    required: tuple[str, ...] = ()
    output: dict[str, Any] | None = None
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    question: Callable[[Segue, dict[str, Any]], str] | None = None
    of_host: bool = False

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        base: dict[str, Any] = {"type": "object", "properties": self.properties, "additionalProperties": False}
        return base | ({"required": list(self.required)} if self.required else {})


def compact(data: dict[str, Any]) -> str:
    """Return values as JSON without white space."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def share(text: str) -> float:
    """Return how much of an answer `text` takes: above 1 it is too long, in characters or in tokens."""
    taken = max(len(text) / MOST_CHARACTERS, tokens.estimate(text, _CHARACTERS_PER_TOKEN) / MOST_TOKENS)
    return taken / _ROOM


def taken(answer: Answer) -> float:
    """Return the share that the longer form of `answer` takes: a host passes on the text, or the structure."""
    written = share(answer.text)
    if answer.data is None:
        return written
    as_json = compact(answer.data)
    return written if as_json == answer.text else max(written, share(as_json))


def fitting(ask: Callable[[int], Answer], most: int, least: int = 1) -> Answer:
    """Return `ask(most)`, or what it gives for the largest smaller number at which it is an answer.

    Raises InvalidInput `answer.too_long` where it is none even at `least`.
    """
    while True:
        answer = ask(most)
        over = taken(answer)
        if over <= 1:
            return answer
        if most <= least:
            raise too_long()
        most = max(least, min(int(most / over * 0.95), most - 1))


def paged(ask: Callable[[int], dict[str, Any]]) -> Answer:
    """Return the JSON answer of `ask(most)`, which keeps to `most` characters, as long as an answer may be."""

    def answer(most: int) -> Answer:
        data = ask(most)
        return Answer(compact(data), data)

    return fitting(answer, int(MOST_CHARACTERS * _ROOM), _LEAST_PAGE)


def bounded(answer: Answer) -> Answer:
    """Return `answer` as a host takes it: too long a text is cut and says so.

    Raises InvalidInput `answer.too_long` where its structure is too long.
    """
    if answer.data is not None and share(compact(answer.data)) > 1:
        raise too_long()
    text, cut = answer.text, answer.text
    while (over := share(cut)) > 1:
        text = text[: int(len(text) / over * 0.99) - len(_CUT)]
        cut = text + _CUT
    return Answer(cut, answer.data)


def too_long() -> InvalidInput:
    """Return the error for what cannot be made shorter."""
    said = "this is too long for an answer; ask for less, or read it with `segue show` or `segue memories show`"
    return InvalidInput("answer.too_long", said)
