"""Embedders behind one protocol, `search.vectors.WordVectors`; each is loaded when it is first asked for."""
