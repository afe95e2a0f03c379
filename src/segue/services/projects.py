"""Which project a folder belongs to.

One id for worktrees, clones, renamed folders and links: the normalised address of the remote repository, else the
first commit, else the folder's real path. A `segue.toml` in the project, not of another user, overrides all of these:

    [project]
    id = "importer"       # the identity, the same on every machine
    name = "Importer"     # optional
    ref = "github.com/acme/importer"  # optional
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from segue.base.errors import Failed, InvalidInput
from segue.base.remotes import remote_key, remote_ref

if TYPE_CHECKING:
    from collections.abc import Mapping

SETTINGS_FILE = "segue.toml"
_GIT_SECONDS = 10
_MAX_SETTINGS = 65_536
_MAX_ID, _MAX_NAME = 256, 128
# A repository is somebody's data: its configuration must not make git fetch from, or start, anything.
_NOTHING_FETCHED = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
_NOTHING_STARTED = ("-c", "protocol.allow=never", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_LOCAL_CLONES = 5


@dataclass(frozen=True, slots=True)
class Project:
    """A project and how it was recognised.

    `key` is its identity (`remote:github.com/acme/app`, `commit:…`, `folder:…` or `set:…`); `name` and `ref` are for
    packets (`ref` never holds credentials or a local path, "" where there is none); `source` says in a few words
    what decided.
    """

    key: str
    name: str
    ref: str
    root: Path
    source: str

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys under which packets of this project may be stored.

        Its own, its remote's, and that of its first commit: a repository that got a remote, or an id, later is the
        same project still.
        """
        if not self.key:
            return ()
        remote = remote_key(self.ref) if self.ref else None
        commit = None
        if not self.key.startswith(("commit:", "folder:")):
            commit = _Git(self.root, paths=False).first_commit
        named = (self.key, remote, f"commit:{commit}" if commit else None)
        return tuple(dict.fromkeys(key for key in named if key))


NOWHERE = Project("", "", "", Path("/"), "nothing: it came from elsewhere")


def identify(directory: Path) -> Project:
    """Return the project of `directory`.

    Raises InvalidInput `config.invalid` where a `segue.toml` does not parse or has a value of the wrong type.
    """
    directory = directory.resolve()
    git = _Git(directory)
    project = _from_git(git, git.root) if git.root else _from_folder(directory)
    settings = _find_settings(directory, git.root)
    return project if settings is None else _overridden(project, settings)


def settings_file(directory: Path) -> Path | None:
    """Return the `segue.toml` that counts in `directory`, None where there is none."""
    directory = directory.resolve()
    if _find_settings(directory, None) is None:
        return None  # wherever the repository begins, so git need not be asked
    return _find_settings(directory, _Git(directory).root)


def read_settings(settings: Path) -> dict[str, Any]:
    """Return what a file of settings holds. Raises InvalidInput `config.invalid` where it cannot be read or parsed."""
    try:
        with settings.open("rb") as file:
            given = file.read(_MAX_SETTINGS + 1)
        if len(given) > _MAX_SETTINGS:
            raise InvalidInput("config.invalid", f"{settings} is larger than {_MAX_SETTINGS} bytes")
        return tomllib.loads(given.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        said = str(error) or type(error).__name__
        raise InvalidInput("config.invalid", f"{settings} cannot be read: {said[:200]}") from None


def branch(directory: Path) -> str:
    """Return the git branch that is checked out in `directory`, "" where there is none."""
    return _Git(directory, paths=False).branch


class _Git:
    """What git says about a folder; everything is "" or None where git is missing or the folder has no repository."""

    def __init__(self, directory: Path, *, paths: bool = True) -> None:
        self._directory = directory
        self.root = self._path("--show-toplevel") if paths else None
        if self.root is not None and not directory.resolve().is_relative_to(self.root.resolve()):
            self.root = None  # `core.worktree` names a folder elsewhere, which is none of this one's business
        common = self._path("--git-common-dir") if self.root is not None else None
        self.common = common.resolve() if common is not None else None

    def _path(self, which: str) -> Path | None:
        # One path for each run: a name may hold a line break, or end in a space.
        said = os.fsdecode(self._output("rev-parse", "--path-format=absolute", which).removesuffix(b"\n"))
        return Path(said) if said else None

    def _run(self, *arguments: str) -> str:
        return self._output(*arguments).decode("utf-8", "replace").strip()

    def _output(self, *arguments: str) -> bytes:
        # Inside a hook git names another repository in these variables; the folder decides here.
        environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"} | _NOTHING_FETCHED
        command = ["git", *_NOTHING_STARTED, "-C", str(self._directory), *arguments]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                env=environment,
                timeout=_GIT_SECONDS,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except subprocess.TimeoutExpired:
            # Taken for "no repository", a slow disk would make another project of it.
            raise Failed("project.git_slow", f"git does not answer in {self._directory}; try again") from None
        except OSError:
            return b""
        return done.stdout if done.returncode == 0 else b""

    @property
    def branch(self) -> str:
        return self._run("symbolic-ref", "--quiet", "--short", "HEAD")

    @property
    def remote(self) -> str:
        """The address of the remote that counts: origin, else upstream, else the first by name."""
        found: dict[str, str] = {}
        for line in self._run("config", "--get-regexp", r"^remote\..*\.url$").splitlines():
            key, _, address = line.partition(" ")
            found.setdefault(key.removeprefix("remote.").removesuffix(".url"), address)
        best = min(found, key=lambda name: (name != "origin", name != "upstream", name), default="")
        return found.get(best, "")

    @property
    def first_commit(self) -> str:
        commits = self._run("rev-list", "--first-parent", "--max-parents=0", "HEAD").split()
        return min(commits) if commits else ""


def _from_git(git: _Git, root: Path) -> Project:
    ref = _network_ref(git, _LOCAL_CLONES)
    name = ref.rsplit("/", 1)[-1] if ref else _repository_name(git, root)
    if ref:
        return Project(f"remote:{ref.lower()}", name, ref, root, "the remote repository")
    first = git.first_commit
    if first:
        return Project(f"commit:{first}", name, "", root, "the repository's first commit")
    return Project(_folder_key(git.common or root), name, "", root, "the repository's folder (no commit yet)")


def _network_ref(git: _Git, depth: int) -> str:
    """The network address of the remote; a clone of a local clone has the address of what that was cloned from."""
    address = git.remote
    ref = remote_ref(address)
    if ref or not address or depth == 0 or git.root is None:
        return ref
    try:
        local = Path(urlsplit(address).path) if address.startswith("file://") else git.root / address
        if not local.is_dir():
            return ""
    except (OSError, ValueError):  # no path at all
        return ""
    origin = _Git(local)
    return _network_ref(origin, depth - 1) if origin.root is not None else ""


def _repository_name(git: _Git, root: Path) -> str:
    # In a worktree the main folder's name is the project's.
    named = git.common.parent if git.common is not None and git.common.name == ".git" else root
    return _name(named)


def _from_folder(directory: Path) -> Project:
    name = _name(directory) or "root"
    return Project(_folder_key(directory), name, "", directory, "the folder (no git repository)")


def _name(folder: Path) -> str:
    # A file system may hold bytes that are no text, which no database takes.
    return os.fsencode(folder.name).decode("utf-8", "replace")


def _folder_key(path: Path) -> str:
    return "folder:" + hashlib.sha256(os.fsencode(path)).hexdigest()[:32]


def _find_settings(directory: Path, root: Path | None) -> Path | None:
    """The nearest settings at or above `directory`, not above the repository where there is one."""
    for folder in (directory, *directory.parents):
        if _is_trusted(folder / SETTINGS_FILE):
            return folder / SETTINGS_FILE
        if folder == root:
            return None
    return None


def _is_trusted(settings: Path) -> bool:
    """Whether it is a file, and this user's own or the administrator's: anybody may put one into a shared folder.

    Git trusts the same owners.
    """
    try:
        if not settings.is_file():
            return False
        return not hasattr(os, "getuid") or settings.lstat().st_uid in (os.getuid(), 0)
    except OSError:
        return False


def _overridden(project: Project, settings: Path) -> Project:
    table = _project_table(settings)
    key = f"set:{table['id']}" if table.get("id") else project.key
    source = f"{SETTINGS_FILE}" if table.get("id") else project.source
    ref = remote_ref(table["ref"]) if table.get("ref") else project.ref
    if table.get("ref") and not ref:  # a local path, or an address of which the secrets are not known
        raise InvalidInput("config.invalid", f"{settings}: ref must be a network address like github.com/acme/app")
    name = table.get("name") or table.get("id") or project.name
    return Project(key, name, ref, settings.parent if table.get("id") else project.root, source)


def _project_table(settings: Path) -> Mapping[str, str]:
    table: Any = read_settings(settings).get("project", {})
    if not isinstance(table, dict) or not all(isinstance(table.get(key, ""), str) for key in ("id", "name", "ref")):
        raise InvalidInput("config.invalid", f"{settings}: [project] holds id, name and ref, each a text")
    if len(table.get("id", "")) > _MAX_ID or len(table.get("name", "")) > _MAX_NAME:
        raise InvalidInput("config.invalid", f"{settings}: id has at most {_MAX_ID}, name {_MAX_NAME} characters")
    return table
