"""Ranking of memories: pure functions over values that a store hands in; the same on every database."""
