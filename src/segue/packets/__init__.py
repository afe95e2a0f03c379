"""Core Memory Packets, versions 0.1 and 0.2: what a work session was doing and why, as one JSON document. Pure."""
