"""Recorded agent sessions, read as streams of events: Claude Code transcripts and Codex rollouts."""
