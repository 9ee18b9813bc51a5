"""Names that similar libraries have for what tables and catalogs can do, and where it is here.

`other_names.csv` has the names, separated by spaces, and the expression that does the same here.
"""

import csv
import pkgutil
from collections.abc import Mapping


def missing_in_table(table: object, name: str, groups: Mapping[str, type]) -> AttributeError:
    """Return the error for an attribute that a table does not have.

    Args:
        table: the table.
        name: the attribute.
        groups: the classes of what the table's own attributes and methods return.
    """
    found = (f"table.{one}.{name}" for one, owner in groups.items() if hasattr(owner, name))
    return _missing(table, name, "table", next(found, None))


def missing_in_catalog(catalog: object, name: str) -> AttributeError:
    """Return the error for an attribute that a catalog does not have.

    Args:
        catalog: the catalog.
        name: the attribute.
    """
    return _missing(catalog, name, "catalog")


def missing_in_scan(scan: object, name: str) -> AttributeError:
    """Return the error for an attribute that a scan does not have.

    Args:
        scan: the scan.
        name: the attribute.
    """
    return _missing(scan, name, "scan")


def _missing(value: object, name: str, of: str, here: str | None = None) -> AttributeError:
    text = (pkgutil.get_data(__package__, "other_names.csv") or b"").decode()
    for row in csv.DictReader(text.splitlines()):
        if here is None and row["of"] == of and name in row["names"].split():
            here = row["here"]
    hint = "" if here is None else f". Use {here}."
    owner = type(value).__name__
    return AttributeError(
        f"{owner!r} object has no attribute {name!r}{hint}", name=name, obj=None if hint else value
    )
