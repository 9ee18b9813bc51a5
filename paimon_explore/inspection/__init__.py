"""Explains tables: system tables, timeline, manifest tree, statistics, health, plans, bytes.

Results render as text, HTML, Arrow and JSON; charts and widgets are drawn by `widgets`. May import
`maintenance` and below. `bytes(path)` inspects a file without its table.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paimon_explore.inspection.byte_inspector.file_lookup import file_bytes as bytes  # noqa: A004 - the public name

__all__ = ["bytes"]

_LAZY = {"bytes": ("paimon_explore.inspection.byte_inspector.file_lookup", "file_bytes")}


def __getattr__(name: str) -> object:
    """Import public names on first use, so that other imports of this package stay light."""
    if name in _LAZY:
        module, function = _LAZY[name]
        return getattr(import_module(module), function)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)
