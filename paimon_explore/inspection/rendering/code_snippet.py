"""Code in Python and PySpark that gives what a view shows."""

from collections.abc import Mapping

from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """The code that gives a result.

    Attributes:
        python: code with this package.
        spark: code with PySpark.
    """

    python: str = ""
    spark: str = ""


def call_code(name: str, *values: object, **named: object) -> str:
    """The code of a call; keyword arguments of None are omitted.

    >>> call_code("t.explain", where="a > 3", limit=None)
    "t.explain(where='a > 3')"
    """
    given = [repr(value) for value in values]
    given += [f"{key}={value!r}" for key, value in named.items() if value is not None]
    return f"{name}({', '.join(given)})"


def point_code(expression: str, snapshot_id: int, tag: str = "") -> str:
    """The code of the table at a snapshot.

    >>> point_code("t", 7)
    't.at(snapshot=7)'
    """
    if not snapshot_id:
        return expression
    return f"{expression}.at({f'tag={tag!r}' if tag else f'snapshot={snapshot_id}'})"


def read_code(location: str, options: Mapping[str, object] | None = None, then: str = "") -> str:
    """The code of a PySpark read with options, followed by `then`.

    >>> read_code("/wh/t", {"scan.snapshot-id": 7})
    "spark.read.format('paimon_explore').option('scan.snapshot-id', 7).load('/wh/t')"
    """
    given = "".join(f".option({key!r}, {value!r})" for key, value in (options or {}).items())
    return f"spark.read.format('paimon_explore'){given}.load({location!r}){then}"


def point_options(snapshot_id: int, tag: str = "") -> dict[str, object]:
    """The options of a PySpark read of a snapshot; none for 0.

    >>> point_options(7)
    {'scan.snapshot-id': 7}
    """
    if tag:
        return {"scan.tag-name": tag}
    return {"scan.snapshot-id": snapshot_id} if snapshot_id else {}


def python_code(at: str, tab: str, condition: str, key: str, file: str) -> str:
    """The Python code of the selection in the explorer.

    Args:
        at: the table at the selected snapshot.
        tab: name of the view.
        condition: condition on files.
        key: key of the selected tree node; empty for none.
        file: name of the selected data file; empty for none.

    >>> python_code("t.at(snapshot=7)", "files", "level = 0", "", "")
    "t.at(snapshot=7).files(where='level = 0')"
    """
    if tab == "bytes":
        return call_code(f"{at}.inspect.bytes", *filter(None, [file or key]))
    if file:
        return call_code(f"{at}.inspect.file", file)
    if key:
        return call_code(f"{at}.inspect.node", key)
    if tab == "overview":
        return f"{at}.inspect.overview()"
    listed = "partitions" if tab == "partitions" else "files"
    return call_code(f"{at}.{listed}", where=condition or None)
