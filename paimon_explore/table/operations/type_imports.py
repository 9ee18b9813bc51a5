"""Imports the types that a module imports for type checkers only."""

import ast
from functools import cache
from importlib import import_module
from typing import Any


@cache
def _modules(importer: str) -> dict[str, str]:
    """Return the module of each name that a module imports as that name, from its source."""
    from pkgutil import get_data

    package, _, name = importer.rpartition(".")
    source = get_data(package, f"{name}.py") or b""
    statements = [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.ImportFrom)]
    return {
        alias.name: one.module or "" for one in statements for alias in one.names if alias.asname
    }


def imported_type(importer: str, name: str) -> Any:  # noqa: ANN401 - a type of any kind
    """Return a type that a module imports for type checkers, as `name as name`.

    Args:
        importer: the module.
        name: the type.

    Raises:
        AttributeError: the module does not import it.
    """
    if name in _modules(importer):
        return getattr(import_module(_modules(importer)[name]), name)
    msg = f"module {importer!r} has no attribute {name!r}"
    raise AttributeError(msg, name=name, obj=None)
