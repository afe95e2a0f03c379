"""Continuity: what is kept for good, and what a text claims about it (Continuity Memory Protocol, schema 6.0). Pure."""
