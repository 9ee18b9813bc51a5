"""Names that similar libraries have for what tables and catalogs can do, and where it is here.

`other_names.csv` has the names, separated by spaces, and the expression that does the same here.
"""

import csv
import pkgutil
from collections.abc import Mapping


def missing(
    value: object, name: str, of: str, groups: Mapping[str, type] | None = None
) -> AttributeError:
    """Return the error for an attribute that an object does not have.

    Args:
        value: the object.
        name: the attribute.
        of: what the object is called in code: `table`, `catalog`, `scan` or `result`.
        groups: the classes of what the object's own attributes and methods return.
    """
    text = (pkgutil.get_data(__package__, "other_names.csv") or b"").decode()
    rows = csv.DictReader(text.splitlines())
    told = [row["here"] for row in rows if row["of"] == of and name in row["names"].split()]
    found = [f"{of}.{one}.{name}" for one, owner in (groups or {}).items() if hasattr(owner, name)]
    here = next(iter([*told, *found]), None)
    hint = "" if here is None else f". Use {here}."
    owner = type(value).__name__
    return AttributeError(
        f"{owner!r} object has no attribute {name!r}{hint}", name=name, obj=None if hint else value
    )
