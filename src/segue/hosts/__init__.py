"""What is installed into an agent host: the entry of the MCP server, and hooks, in the host's own configuration files.

`install`, `uninstall`, `status`, `preview` and `entry` are the way in; `HOSTS` lists the hosts, and `chosen` gives the
hooks. A host is one value in a table (`host`); what goes into a file is a part (`server`, `settings`); a file format is
one editor (`jsonc` and `toml` read, `editor` and `toml_editor` change); what happens on the disk is in `place`.

Hooks are the other half, which a host starts: `hook` is their door, and `session_start`, `recall`, `pre_compact` and
`stop` answer an event each. They reach the store through `embedded` and the modules of rows beside it (decision 17).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from segue.hosts.change import Change, State
    from segue.hosts.host import HOSTS, Host, Surroundings
    from segue.hosts.installation import entry, install, preview, uninstall
    from segue.hosts.settings import chosen
    from segue.hosts.standing import status

__all__ = [
    "HOSTS",
    "Change",
    "Host",
    "State",
    "Surroundings",
    "chosen",
    "entry",
    "install",
    "preview",
    "status",
    "uninstall",
]

_MODULES = {
    "Change": "change",
    "HOSTS": "host",
    "Host": "host",
    "State": "change",
    "Surroundings": "host",
    "chosen": "settings",
    "entry": "installation",
    "install": "installation",
    "preview": "installation",
    "status": "standing",
    "uninstall": "installation",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: a hook, which lives in this package too, needs none of them."""
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
