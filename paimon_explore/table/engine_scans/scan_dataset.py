"""A scan as a pyarrow dataset, into which DuckDB and others push columns and filters.

DuckDB pushes projections and filters into objects of the class `pyarrow.dataset.Dataset` only: it
calls `scanner(columns=…, filter=…)` and reads the result. The filter is evaluated by Arrow; the
scan skips the files, row groups and rows that its recognized part excludes.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.table.engine_scans.arrow_filter import arrow_condition
from paimon_explore.table.engine_scans.lazy_scan import LazyScan, narrowed

_BATCH_ROWS = 1 << 17
"""The default of pyarrow."""


class ScanDataset(ds.Dataset):
    """A dataset of the rows of a scan, which are read when a scanner is consumed.

    Args:
        scan: the scan.
    """

    def __init__(self, scan: LazyScan) -> None:
        self._scan = scan

    def __repr__(self) -> str:
        """Return the scan."""
        return f"ScanDataset of {self._scan!r}"

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return self._scan.schema

    def scanner(  # type: ignore[override]  # the stubs leave out expressions
        self,
        columns: Sequence[str] | dict[str, pc.Expression] | None = None,
        filter: pc.Expression | None = None,  # noqa: A002 - as in pyarrow
        batch_size: int | None = None,
        **_options: Any,  # noqa: ANN401 - options of files, which a scan does not have
    ) -> ds.Scanner:
        """Return a scanner of some columns of the rows that match a filter.

        Args:
            columns: names, or expressions by name; None for all columns.
            filter: an expression over any columns.
            batch_size: maximum number of rows of a batch.
        """
        text = "" if filter is None else str(filter)
        where = None if filter is None else arrow_condition(text, self._scan.row_type)
        reader = narrowed(self._scan, self._read(columns, text), where).to_batches()
        wanted = list(columns) if isinstance(columns, Sequence) else columns
        size = _BATCH_ROWS if batch_size is None else batch_size
        return ds.Scanner.from_batches(reader, columns=wanted, filter=filter, batch_size=size)

    def count_rows(  # type: ignore[override]  # the stubs name each option
        self,
        filter: pc.Expression | None = None,  # noqa: A002 - as in pyarrow
        **options: Any,  # noqa: ANN401 - as in pyarrow
    ) -> int:
        """Return the number of rows that match a filter; without one, no column is read for it.

        Args:
            filter: an expression over any columns.
            options: those of `scanner`.
        """
        if filter is None:
            return self._scan.count()
        return self.scanner(columns=[], filter=filter, **options).count_rows()

    def _read(
        self, columns: Sequence[str] | dict[str, pc.Expression] | None, text: str
    ) -> list[str] | None:
        """Return the columns that are read: those that the result or the filter may name."""
        if columns is None:
            return None
        if isinstance(columns, dict):
            text = " ".join([text, *map(str, columns.values())])
            columns = ()
        names = self._scan.schema.names
        return [name for name in names if name in columns or name in text] or names[:1]

    def get_fragments(self, filter: pc.Expression | None = None) -> NoReturn:  # noqa: A002, ARG002
        """Refuse: the files of a table are not all plain files of rows.

        Raises:
            UnsupportedFeatureError: always.
        """
        raise _refused("fragments")

    def replace_schema(self, schema: pa.Schema) -> NoReturn:  # noqa: ARG002
        """Refuse, as `get_fragments`."""
        raise _refused("another schema")

    @property
    def partition_expression(self) -> NoReturn:
        """Refuse, as `get_fragments`."""
        raise _refused("a partition expression")

    def __reduce__(self) -> NoReturn:
        """Refuse, as `get_fragments`."""
        raise _refused("pickling")


def _refused(what: str) -> UnsupportedFeatureError:
    return UnsupportedFeatureError(f"{what} of the dataset of a scan", hint="Use scanner().")
