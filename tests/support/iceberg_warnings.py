"""The warnings that updates of Iceberg metadata raise."""

import warnings
from collections.abc import Callable

from paimon_explore.errors import IcebergMetadataWarning


def told(act: Callable[[], object]) -> list[str]:
    """Do something; return the texts of the warnings about Iceberg metadata."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return [str(one.message) for one in caught if issubclass(one.category, IcebergMetadataWarning)]
