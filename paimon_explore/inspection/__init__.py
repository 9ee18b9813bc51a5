"""View values that explain a table to a person: system tables, timeline, manifest tree, statistics.

Draws nothing; every value has text, Arrow and JSON faces. May import `maintenance` and below.
`bytes(path)` takes apart a file without its table.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paimon_explore.inspection.byte_inspector.file_lookup import file_bytes as bytes  # noqa: A004 - as the door

__all__ = ["bytes"]

_DOORS = {"bytes": ("paimon_explore.inspection.byte_inspector.file_lookup", "file_bytes")}


def __getattr__(name: str) -> object:
    """The public names, loaded when they are first used: most of this layer needs none of them."""
    if name in _DOORS:
        module, function = _DOORS[name]
        return getattr(import_module(module), function)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg, name=name, obj=None)
