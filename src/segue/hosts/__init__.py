"""What is installed into an agent host: the entry of the MCP server in the host's own configuration file.

`install`, `uninstall` and `status` are the way in; `HOSTS` lists the hosts. A host is one value in a table (`host`), a
file format is one editor (`jsonc` reads, `editor` changes), and what happens on the disk is in `place`.
"""

from segue.hosts.change import Change, State
from segue.hosts.host import HOSTS, Host, Surroundings
from segue.hosts.installation import install, status, uninstall

__all__ = ["HOSTS", "Change", "Host", "State", "Surroundings", "install", "status", "uninstall"]
