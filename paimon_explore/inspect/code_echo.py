"""The line of code that yields what a view shows."""

from dataclasses import dataclass

from paimon_explore.inspect.escape import quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What is shown.

    Attributes:
        snapshot_id: the snapshot; 0 for none.
        tag: a tag that holds the snapshot, where nothing else does; empty for none.
        tab: which view.
        filter: condition on files.
        key: key of the chosen tree node; empty for none.
        file: name of the chosen data file; empty for none.
    """

    snapshot_id: int
    tag: str = ""
    tab: str = "files"
    filter: str = ""
    key: str = ""
    file: str = ""


def python_code(shown: Shown, expression: str) -> str:
    """The line in Python.

    >>> python_code(Shown(snapshot_id=7, filter="level = 0"), "t")
    "t.at(snapshot=7).files(where='level = 0')"
    """
    if not shown.snapshot_id:
        return f"{expression}.timeline()"
    point = f"tag={quoted(shown.tag)}" if shown.tag else f"snapshot={shown.snapshot_id}"
    at = f"{expression}.at({point})"
    if shown.file:
        return f"{at}.file({quoted(shown.file)})"
    if shown.key:
        return f"{at}.node({quoted(shown.key)})"
    where = f"where={quoted(shown.filter)}" if shown.filter else ""
    return f"{at}.{'partitions' if shown.tab == 'partitions' else 'files'}({where})"


def spark_code(shown: Shown, location: str) -> str:
    """The line in PySpark that reads the rows of the same snapshot.

    >>> spark_code(Shown(snapshot_id=7), "/wh/orders")
    "spark.read.format('paimon_explore').option('scan.snapshot-id', 7).load('/wh/orders')"
    """
    travel = ""
    if shown.tag:
        travel = f".option('scan.tag-name', {quoted(shown.tag)})"
    elif shown.snapshot_id:
        travel = f".option('scan.snapshot-id', {shown.snapshot_id})"
    return f"spark.read.format('paimon_explore'){travel}.load({quoted(location)})"
