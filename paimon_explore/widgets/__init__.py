"""Notebook widgets and plotly charts that show the results of `inspection`.

Does not call the facade. May import `inspection` and below, and anywidget, ipywidgets and plotly.
"""
