"""Segue: portable memory for AI agents. Save where the work stands, resume it anywhere."""

from __future__ import annotations

__version__ = "0.1.0"
