"""View values that explain a table to a person: system tables, timeline, manifest tree, statistics.

Draws nothing; every value has text, Arrow and JSON faces. May import `maintenance` and below.
"""
