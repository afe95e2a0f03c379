"""Which project a folder belongs to.

One id for worktrees, clones, renamed folders and links: the normalised address of the remote repository, else the
first commit, else the folder's real path. A `segue.toml` in the project overrides all of these:

    [project]
    id = "importer"       # the identity, the same on every machine
    name = "Importer"     # optional
    ref = "github.com/acme/importer"  # optional
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from segue.base.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

SETTINGS_FILE = "segue.toml"
_GIT_SECONDS = 10
_SCP = re.compile(r"(?:[^@/\s]+@)?([A-Za-z0-9.\-]+):(?!//)([^\s]+)")
_HOSTED = re.compile(r"[a-z0-9\-]+(?:\.[a-z0-9\-]+)+/\S+", re.I)
_REMOTE_SCHEMES = frozenset({"http", "https", "ssh", "git", "git+ssh", "ssh+git", "git+https", "ftp", "ftps"})
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
    branch: str
    source: str

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys under which packets of this project may be stored: its own, and its remote's."""
        remote = remote_key(self.ref) if self.ref else None
        return (self.key,) if remote is None else tuple(dict.fromkeys((self.key, remote)))


def identify(directory: Path) -> Project:
    """Return the project of `directory`.

    Raises InvalidInput `config.invalid` where a `segue.toml` does not parse or has a value of the wrong type.
    """
    directory = directory.resolve()
    git = _Git(directory)
    project = _from_git(git, git.root) if git.root else _from_folder(directory)
    settings = _find_settings(directory, git.root)
    return project if settings is None else _overridden(project, settings)


def remote_key(address: str) -> str | None:
    """Return the identity of the repository at `address`: `remote:host/path`, in lower case.

    User names, passwords, default ports, `.git` and the scheme do not matter; None where it is no network address.
    """
    shown = remote_ref(address)
    return f"remote:{shown.lower()}" if shown else None


def remote_ref(address: str) -> str:
    """Return `address` as a packet shows it, `github.com/acme/app`, without credentials; "" where it is local."""
    address = address.strip()
    host_and_path = _split_address(address)
    if host_and_path is None:
        return ""
    host, path = host_and_path
    path = re.sub(r"/{2,}", "/", path).strip("/").removesuffix(".git").rstrip("/")
    return f"{host}/{path}" if host and path else ""


def _split_address(address: str) -> tuple[str, str] | None:
    if "://" in address:
        try:
            parts = urlsplit(address)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            return None
        if parts.scheme not in _REMOTE_SCHEMES:
            return None
        usual = {None, 80, 443, 22, 9418}
        return (host if port in usual else f"{host}:{port}"), parts.path
    if _HOSTED.fullmatch(address) and "@" not in address.split("/", maxsplit=1)[0]:
        host, _, path = address.partition("/")
        return host.lower(), path.split("?")[0].split("#")[0]
    scp = _SCP.fullmatch(address)
    if scp and len(scp[1]) > 1:  # one letter is a Windows drive
        return scp[1].lower(), scp[2]
    return None


class _Git:
    """What git says about a folder; everything is "" or None where git is missing or the folder has no repository."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.root = self._path("--show-toplevel")
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
        environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
        command = ["git", "-C", str(self._directory), *arguments]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                env=environment,
                timeout=_GIT_SECONDS,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
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
        commits = self._run("rev-list", "--max-parents=0", "HEAD").split()
        return min(commits) if commits else ""


def _from_git(git: _Git, root: Path) -> Project:
    ref = _network_ref(git, _LOCAL_CLONES)
    name = ref.rsplit("/", 1)[-1] if ref else _repository_name(git, root)
    if ref:
        return Project(f"remote:{ref.lower()}", name, ref, root, git.branch, "the remote repository")
    first = git.first_commit
    if first:
        return Project(f"commit:{first}", name, "", root, git.branch, "the repository's first commit")
    return Project(
        _folder_key(git.common or root), name, "", root, git.branch, "the repository's folder (no commit yet)"
    )


def _network_ref(git: _Git, depth: int) -> str:
    """The network address of the remote; a clone of a local clone has the address of what that was cloned from."""
    address = git.remote
    ref = remote_ref(address)
    if ref or not address or depth == 0 or git.root is None:
        return ref
    local = Path(urlsplit(address).path) if address.startswith("file://") else git.root / address
    if not local.is_dir():
        return ""
    origin = _Git(local)
    return _network_ref(origin, depth - 1) if origin.root is not None else ""


def _repository_name(git: _Git, root: Path) -> str:
    # In a worktree the main folder's name is the project's.
    return git.common.parent.name if git.common is not None and git.common.name == ".git" else root.name


def _from_folder(directory: Path) -> Project:
    return Project(
        _folder_key(directory), directory.name or "root", "", directory, "", "the folder (no git repository)"
    )


def _folder_key(path: Path) -> str:
    return "folder:" + hashlib.sha256(os.fsencode(path)).hexdigest()[:32]


def _find_settings(directory: Path, root: Path | None) -> Path | None:
    """The nearest settings at or above `directory`, not above the repository where there is one."""
    for folder in (directory, *directory.parents):
        if (folder / SETTINGS_FILE).is_file():
            return folder / SETTINGS_FILE
        if folder == root:
            return None
    return None


def _overridden(project: Project, settings: Path) -> Project:
    table = _project_table(settings)
    key = f"set:{table['id']}" if table.get("id") else project.key
    source = f"{SETTINGS_FILE}" if table.get("id") else project.source
    ref = remote_ref(table["ref"]) if table.get("ref") else project.ref
    if table.get("ref") and not ref:  # a local path, or an address of which the secrets are not known
        raise InvalidInput("config.invalid", f"{settings}: ref must be a network address like github.com/acme/app")
    name = table.get("name") or table.get("id") or project.name
    return Project(key, name, ref, settings.parent if table.get("id") else project.root, project.branch, source)


def _project_table(settings: Path) -> Mapping[str, str]:
    try:
        table: Any = tomllib.loads(settings.read_text("utf-8")).get("project", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput("config.invalid", f"{settings} cannot be read: {error}") from None
    if not isinstance(table, dict) or not all(isinstance(table.get(key, ""), str) for key in ("id", "name", "ref")):
        raise InvalidInput("config.invalid", f"{settings}: [project] holds id, name and ref, each a text")
    return table
