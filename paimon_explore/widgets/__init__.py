"""Traits, front-end bundles and charts that draw the values of `inspect`.

Never calls the facade and starts no engine. May import `inspect` and below, plus anywidget,
ipywidgets and plotly.
"""
