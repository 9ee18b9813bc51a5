"""Configuration of the documentation site: Sphinx, furo and Markdown pages.

Build it from the root of the repository, with the extra `docs` installed:

    python -m sphinx -W --keep-going -n .github/docs build/docs

Pages are Markdown. What can be derived from the code is generated while the site is built.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]

import paimon_explore  # noqa: E402 - needs the path

project = "paimon_explore"
author = "the paimon_explore contributors"
project_copyright = "the paimon_explore contributors. Apache License 2.0"
version = release = paimon_explore.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["**/__pycache__"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

html_theme = "furo"
html_title = "paimon_explore"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = "default"
pygments_dark_style = "monokai"
