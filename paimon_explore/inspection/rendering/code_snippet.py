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


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The selection in the explorer.

    Attributes:
        snapshot_id: id of the snapshot; 0 for none.
        tag: tag of an expired snapshot; empty for none.
        tab: name of the view.
        filter: condition on files.
        key: key of the selected tree node; empty for none.
        file: name of the selected data file; empty for none.
    """

    snapshot_id: int
    tag: str = ""
    tab: str = "files"
    filter: str = ""
    key: str = ""
    file: str = ""


def python_code(shown: Selection, expression: str) -> str:
    """The code in Python.

    >>> python_code(Selection(snapshot_id=7, filter="level = 0"), "t")
    "t.at(snapshot=7).files(where='level = 0')"
    """
    if not shown.snapshot_id:
        return f"{expression}.inspect.timeline()"
    at = point_code(expression, shown.snapshot_id, shown.tag)
    if shown.tab == "bytes":
        what = shown.file or shown.key
        return call_code(f"{at}.inspect.bytes", *([what] if what else []))
    if shown.file:
        return call_code(f"{at}.inspect.file", shown.file)
    if shown.key:
        return call_code(f"{at}.inspect.node", shown.key)
    if shown.tab == "overview":
        return f"{at}.inspect.overview()"
    listed = "partitions" if shown.tab == "partitions" else "files"
    return call_code(f"{at}.{listed}", where=shown.filter or None)


def spark_code(shown: Selection, location: str) -> str:
    """The PySpark code that reads the rows of the snapshot.

    >>> spark_code(Selection(snapshot_id=7), "/wh/orders")
    "spark.read.format('paimon_explore').option('scan.snapshot-id', 7).load('/wh/orders')"
    """
    options: dict[str, object] = {}
    if shown.tag:
        options = {"scan.tag-name": shown.tag}
    elif shown.snapshot_id:
        options = {"scan.snapshot-id": shown.snapshot_id}
    return read_code(location, options)
