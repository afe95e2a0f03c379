"""Memories: what is remembered, how it is told apart, what replaces it. Pure functions over values."""
