"""What a user has set: in `config.toml` in Segue's home folder, and in the `segue.toml` of a project."""

from __future__ import annotations

import stat
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from segue.base.errors import Failed, InvalidInput
from segue.context.profile_settings import parse
from segue.services.projects import read_settings, settings_file
from segue.sources.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from segue.context.profiles import Profile

CONFIG_FILE = "config.toml"


def profiles(home: Callable[[], Path], directory: Path) -> tuple[Profile, ...]:
    """Return the profiles that the user added: those of the project that `directory` belongs to, then those of `home`.

    Of two with the same name, the project's counts, as a whole. Files and folders that do not exist add none; a
    `segue.toml` counts where it does for the project (see `services.projects`). Raises InvalidInput `config.invalid`,
    which names the file, and the key where a value is wrong.
    """
    file = settings_file(directory)
    own = parse(read_settings(file), str(file)) if file is not None else ()
    names = {each.name for each in own}
    return (*own, *(each for each in _of_home(home) if each.name not in names))


def source_limits(home: Callable[[], Path]) -> Limits:
    """Return the limits of what is read from sources: those of `[sources]` in `home`, where they are lower.

    Raises InvalidInput `config.invalid` for a key that is no limit or a value that is none, or is higher than allowed.
    """
    try:
        file = home() / CONFIG_FILE
    except Failed:
        return DEFAULT
    given = _read(file).get("sources", {})
    known = {each.name: type(each.default) for each in fields(Limits)}
    if not isinstance(given, dict) or not given.keys() <= known.keys():
        raise InvalidInput("config.invalid", f"{file}: [sources] holds limits: {', '.join(known)}")
    for key, value in given.items():
        if type(value) is not int and not (known[key] is float and type(value) is float):
            raise InvalidInput("config.invalid", f"{file}: sources.{key} is a number")
    try:
        return Limits(**given)
    except InvalidInput as error:
        raise InvalidInput("config.invalid", f"{file}: {error.message}", error.details) from None


def _of_home(home: Callable[[], Path]) -> tuple[Profile, ...]:
    try:
        file = home() / CONFIG_FILE
    except Failed:
        return ()  # a store that is named works without a home folder, and so without settings in it
    return parse(_read(file), str(file))


def _read(file: Path) -> Mapping[str, Any]:
    try:
        mode = file.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise InvalidInput("config.invalid", f"{file} cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(mode):  # a pipe would be waited for
        raise InvalidInput("config.invalid", f"{file} is not a file")
    return read_settings(file)
