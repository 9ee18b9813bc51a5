"""The public interface as lines of text, which a test compares with the recorded ones.

`python -m support.public_interface`, in the folder `tests`, records it.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path

import paimon_explore as pe
from paimon_explore import spark
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.table.engine_scans.scan_part import ScanPart
from paimon_explore.table.file_tables.format_table import FormatTable
from paimon_explore.table.maintenance import Maintenance
from paimon_explore.table.merge_builder import Merge
from paimon_explore.table.previews.what_if import WhatIf
from paimon_explore.table.references import ConsumerListing
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.scan import Scan
from paimon_explore.table.sql_results.sql_result import SqlResult
from paimon_explore.table.streams.change_batch import ChangeBatch
from paimon_explore.table.streams.change_stream import ChangeStream
from paimon_explore.table.table_inspection import TableInspection
from paimon_explore.table.transactions.transaction import Transaction

RECORD = Path(__file__).parents[1] / "architecture" / "public_interface.txt"
"""The recorded interface."""
CLASSES = (
    *(pe.Catalog, pe.Table, Scan, TableInspection, Maintenance, WhatIf, Transaction, Merge),
    *(SqlResult, Result, RowSource, FormatTable, ConsumerListing, ChangeStream, ChangeBatch),
    ScanPart,
)
"""The classes whose objects users hold."""


def public(thing: object) -> set[str]:
    """The names of a module, class or object without a leading underscore."""
    return {name for name in dir(thing) if not name.startswith("_")}


def interface_lines() -> list[str]:
    """A line for each public function, method and property: its name and its arguments."""
    return [
        *_functions("pe", pe),
        *_functions("pe.inspect", pe.inspect),
        *_functions("pe.spark", spark),
        *(line for kind in CLASSES for line in _members(kind)),
    ]


def _functions(name: str, module: object) -> Iterator[str]:
    names: list[str] = getattr(module, "__all__")  # noqa: B009 - of any module
    for one in sorted(names):
        value = getattr(module, one)
        is_function = inspect.isfunction(value)
        yield f"{name}.{one}{_arguments(value) if is_function else ''}"


def _members(kind: type) -> Iterator[str]:
    for one in sorted(public(kind)):
        value = inspect.getattr_static(kind, one)
        if isinstance(value, classmethod | staticmethod):
            value = value.__func__
        yield f"{kind.__name__}.{one}{_arguments(value) if inspect.isfunction(value) else ''}"


def _arguments(function: object) -> str:
    """The arguments of a function, without types."""
    assert callable(function)
    signature = inspect.signature(function)
    plain = [
        one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()
    ]
    shown = signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)
    return str(shown)


if __name__ == "__main__":
    RECORD.write_text("\n".join(interface_lines()) + "\n", encoding="utf-8")
