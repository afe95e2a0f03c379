"""What a tool is, what it answers, and the folder that a call is about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segue.base.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.app import Segue


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool gives back: `text` for the model, `data` the same as JSON values where there is structure."""

    text: str
    data: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as hosts see it; `read_only`, `destructive` and `idempotent` are hints for them."""

    name: str
    description: str
    properties: dict[str, Any]
    run: Callable[[Segue, dict[str, Any]], Answer]
    required: tuple[str, ...] = ()
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        base: dict[str, Any] = {"type": "object", "properties": self.properties, "additionalProperties": False}
        return base | ({"required": list(self.required)} if self.required else {})


DIRECTORY = {
    "type": "string",
    "maxLength": 4096,
    "description": "Absolute path of the folder you work in. Only needed when this server was not started there.",
}


def at_directory(segue: Segue, arguments: dict[str, Any]) -> Segue:
    """Return the Segue that a call is about: of the folder that it names, else of the one the server was started in.

    The project is recognised anew at each call: a remote or a `segue.toml` can appear while the server runs.
    """
    given = arguments.get("directory")
    if given is None:
        return segue.at(segue.directory)
    path = Path(given)
    if not path.is_absolute() or not _is_folder(path):
        raise InvalidInput("directory.invalid", "'directory' must be the absolute path of an existing folder")
    return segue.at(path)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that is too long for one, or a folder that may not be looked into
        return False
