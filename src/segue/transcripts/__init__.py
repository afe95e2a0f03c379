"""Recorded agent sessions as streams of events, and conversations of any assistant as streams of conversations."""
