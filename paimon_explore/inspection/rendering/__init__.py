"""How results are rendered: text, HTML, charts, number formats, escaping.

`result` is the base of every result; `report` holds its facts, tables and charts.
"""
