"""Renders results: text, HTML, charts, number formats, escaping.

`result` has the base class of results, `report` the facts, tables and charts of their reports.
"""
