"""The command `segue`."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit with its code."""
