"""Searches of a table in full-text and vector indexes."""
