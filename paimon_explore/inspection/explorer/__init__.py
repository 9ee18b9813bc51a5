"""The state behind the explorer widget, and its static renderings (text, HTML, SVG).

The widget uses `explorer_state`; the static renderings are shown where JavaScript is not available.
"""
