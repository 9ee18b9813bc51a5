"""Configuration of the documentation site: Sphinx, furo and Markdown pages.

Build it from the root of the repository, with the extra `docs` installed:

    python -m sphinx -W --keep-going -n .github/docs build/docs

Pages are Markdown. What can be derived from the code is generated while the site is built.
"""

import gc
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE), str(ROOT / "tests")]

import paimon_explore  # noqa: E402 - needs the path

gc.set_threshold(20_000)  # else a tenth of the build goes through its trees

project = "paimon_explore"
author = "the paimon_explore contributors"
project_copyright = "the paimon_explore contributors. Apache License 2.0"
version = release = paimon_explore.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "generated"]
exclude_patterns = ["**/__pycache__"]

smartquotes = False  # code in docstrings keeps its quotes
default_role = "name"  # docstrings put names in single backticks, as Markdown does
autodoc_typehints = "none"  # signatures have them, as the source states them
autodoc_inherit_docstrings = False
add_module_names = False
maximum_signature_line_length = 88
napoleon_google_docstring = True
napoleon_numpy_docstring = False
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_title = "paimon_explore"
html_search_scorer = str(HERE / "search_scores.js")
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = "default"
pygments_dark_style = "monokai"
