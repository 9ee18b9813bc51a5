"""Attributes that a base class describes, in the entry of the class that users know.

A long class is composed of bases without an entry of their own; the section "Attributes" of their
docstrings belongs to the class.
"""

import inspect
import re

from sphinx.application import Sphinx

from generated import api_pages

_SECTION = "Attributes:"
_NAME = re.compile(r"    (\w+): ")


def described(docstring: str) -> dict[str, list[str]]:
    """Return the lines about each attribute of a docstring.

    Args:
        docstring: a docstring in the convention of Google.
    """
    found: dict[str, list[str]] = {}
    name = ""
    lines = docstring.splitlines()
    for line in lines[lines.index(_SECTION) + 1 :] if _SECTION in lines else ():
        if line and not line.startswith("    "):
            break
        entry = _NAME.match(line)
        name = entry[1] if entry else name
        if name and line:
            found.setdefault(name, []).append(line)
    return found


def _process(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Complete the docstring of a class; for the event `autodoc-process-docstring`."""
    del app, name, options
    if what != "class" or not isinstance(obj, type):
        return
    missing: dict[str, list[str]] = {}
    shown = described("\n".join(lines))
    for base in obj.__mro__[1:]:
        if base.__module__.startswith(api_pages.PACKAGE) and not api_pages.has_entry(base):
            for attribute, text in described(inspect.getdoc(base) or "").items():
                if attribute not in shown:
                    missing.setdefault(attribute, text)
    if missing:
        if _SECTION not in lines:
            lines += ["", _SECTION, ""]
        at = lines.index(_SECTION) + 1
        lines[at:at] = [line for text in missing.values() for line in text]


def setup(app: Sphinx) -> None:
    """Connect to autodoc, before docstrings are parsed."""
    app.connect("autodoc-process-docstring", _process, priority=300)
