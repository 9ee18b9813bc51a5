"""Transactions: several writes to a table that become visible in one snapshot.

`Transaction` is imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paimon_explore.table.transactions.transaction import Transaction as Transaction


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a type of any kind
    """Import the class of transactions; PEP 562."""
    if name == "Transaction":
        return import_module(f"{__name__}.transaction").Transaction
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)
