"""The state of the explorer without a screen, and its static renderings (text, HTML, SVG).

The widget uses `explorer_state`; the static renderings stand in where no JavaScript runs.
"""
