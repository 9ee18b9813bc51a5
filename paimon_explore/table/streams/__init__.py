"""Streams of changes: `table.follow`, its start positions and its consumers."""
