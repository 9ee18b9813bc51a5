"""The output of commands: aligned text, reports, JSON and CSV."""
