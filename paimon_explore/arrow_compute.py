"""Arrow's compute functions: `pyarrow.compute`, loaded only when one of them is called by name.

`pyarrow.compute` makes a documented Python function of each compute function, which takes 40 ms, a
third of what `import pyarrow` takes. `call_function`, the classes of options and the functions
defined here do without. What a first read runs uses these, and not the methods of arrays and tables
(`take`, `filter`, `cast`, `flatten`, `dictionary_encode`), which load `pyarrow.compute`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyarrow.compute import *  # noqa: F403 - it is that module
else:
    from pyarrow import _compute
    from pyarrow._compute import call_function

    def filter(values: object, mask: object) -> object:  # noqa: A001 - as in that module
        """Return the values, or rows, where a mask is true."""
        return call_function("filter", [values, mask])

    def list_flatten(lists: object) -> object:
        """Return the items of lists, without those of null lists."""
        return call_function("list_flatten", [lists])

    def take(values: object, indices: object) -> object:
        """Return the values, or rows, at the indices; null where an index is null."""
        return call_function("take", [values, indices])

    def __getattr__(name: str) -> object:
        """Return what `pyarrow.compute` has under this name."""
        home = _compute if hasattr(_compute, name) else import_module("pyarrow.compute")
        value = globals()[name] = getattr(home, name)
        return value
