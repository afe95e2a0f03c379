"""Memories that other tools wrote, read as plain items: interchange files, notes, conversations."""
