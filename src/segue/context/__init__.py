"""Context packs: which memories a model is given, within its budget, and what it holds already. Pure functions."""
