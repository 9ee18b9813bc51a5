"""Tables whose Parquet files DuckDB reads itself, with its own pushdown and late materialization.

That is possible if the stored rows are the table's rows and the stored values are the table's
values: local files of splits that need no merge, without deletion vectors, and whose columns have
the names and types of the table. In all other cases DuckDB reads the rows of the scan.
"""

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.definitions import AtomicType, DataField, RowType, TypeRoot
from paimon_explore.encoding.parquet.arrow_reader import open_reader
from paimon_explore.fileio.local import LocalFileIO, local_path
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.evaluator import listed_values
from paimon_explore.scan.predicate.expression import Expression, Or, conjuncts
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.sql_statements.duckdb.database import FileRows, text_constant
from paimon_explore.sql_statements.duckdb.type_names import quoted
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.table.scan import Scan

_MIN_ROWS = 50_000
"""Minimum number of rows of the table, so that opening files is not what takes the time ..."""
_MIN_FILE_BYTES = 128 << 10
"""... and minimum average size of the files."""
_MAX_CHOICES = 64
"""Maximum number of conditions on listed values that OR combines: DuckDB tests each on each row."""
_ROOTS = frozenset(
    {
        TypeRoot.BOOLEAN,
        TypeRoot.TINYINT,
        TypeRoot.SMALLINT,
        TypeRoot.INT,
        TypeRoot.BIGINT,
        TypeRoot.FLOAT,
        TypeRoot.DOUBLE,
        TypeRoot.DECIMAL,
        TypeRoot.DATE,
        TypeRoot.VARCHAR,
        TypeRoot.VARBINARY,
        TypeRoot.TIMESTAMP,
        TypeRoot.TIMESTAMP_LTZ,
    }
)
"""Types whose values DuckDB decodes alike; timestamps only in microseconds, as it has them."""
_WITH_NAN = frozenset({TypeRoot.FLOAT, TypeRoot.DOUBLE})
_PATTERN = frozenset("*?[]{}")


def parquet_files(scan: Scan, columns: Sequence[str] | None) -> FileRows | None:
    """Return the rows of a scan as those of its files; None if DuckDB cannot read them.

    Args:
        scan: the rows; its condition only excludes files.
        columns: the names of the columns that a query needs; None for all.
    """
    target = scan.target
    wanted = [one for one in scan.row_type if columns is None or one.name in columns]
    rows = 0 if target.snapshot is None else target.snapshot.total_record_count or 0
    is_plain = isinstance(target.store.file_io, LocalFileIO) and scan.narrowed is None
    if rows < _MIN_ROWS or not is_plain or scan.row_limit is not None:
        return None
    if not all(map(is_alike, wanted)) or any(map(_has_many_choices, conjuncts(scan.where))):
        return None
    paths: list[str] = []
    size = 0
    for part in scan.parts():
        if not isinstance(part.split, DataSplit) or not _is_stored(part.split, target, wanted):
            return None
        paths += map(local_path, part.split.paths)
        size += part.file_bytes
    folder = local_path(target.store.paths.root)
    if not paths or size < _MIN_FILE_BYTES * len(paths):
        return None
    if not all(_can_read(path, folder, wanted) for path in paths):
        return None
    return FileRows(
        query=_query(scan.row_type, wanted, paths),
        folder=folder,
        check=partial(_check, target, tuple(paths)),
    )


def _has_many_choices(condition: Expression) -> bool:
    choices = condition.children if isinstance(condition, Or) else ()
    return len(choices) > _MAX_CHOICES and listed_values(choices) is not None


def _query(row_type: RowType, wanted: Sequence[DataField], paths: Sequence[str]) -> str:
    """Return the rows of files; columns that the query does not need are null."""
    items = [
        f"{_value(field) if field in wanted else 'NULL'} AS {quoted(field.name)}"
        for field in row_type
    ]
    files = ", ".join(map(text_constant, paths))
    return (
        f"SELECT {', '.join(items)} "  # noqa: S608 - quoted
        f"FROM read_parquet([{files}], hive_partitioning = false)"
    )


def _value(field: DataField) -> str:
    """Return the value of a column; statistics of files, by which DuckDB prunes, ignore NaN."""
    name = quoted(field.name)
    if not isinstance(field.type, AtomicType) or field.type.root not in _WITH_NAN:
        return name
    return f"CASE WHEN isnan({name}) THEN 'NaN' ELSE {name} END"


def _check(target: ScanTarget, paths: Sequence[str]) -> None:
    """Check that the files still exist.

    Raises:
        SnapshotExpiredError: the snapshot expired meanwhile.
        MissingFileError: a file was lost.
    """
    with explain_missing_files(target.store, target.snapshot):
        for path in paths:
            target.store.file_io.status(path)


def is_alike(field: DataField) -> bool:
    """Return whether DuckDB returns the values of a column as they are stored."""
    kind = field.type
    if not isinstance(kind, AtomicType) or kind.root not in _ROOTS:
        return False
    is_time = kind.root in {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}
    return not is_time or to_arrow(kind) in (pa.timestamp("us"), pa.timestamp("us", "UTC"))


def _is_stored(split: DataSplit, target: ScanTarget, wanted: Sequence[DataField]) -> bool:
    """Return whether the rows of the files are those of the table, in its schema."""
    source, rows = split.source, split.files.table
    if not split.raw_convertible or split.same_rows or split.deletion_files:
        return False
    if source.row_ids is not None or source.positions is not None:
        return False
    if rows.column("write_cols").null_count < rows.num_rows or split.branch != target.branch:
        return False
    ids = {int(number) for number in np.unique(numbers(rows, "schema_id"))} - {target.schema.id}
    return all(set(wanted) <= set(target.store.schemas.load(one).fields) for one in ids)


def _can_read(path: str, folder: str, wanted: Sequence[DataField]) -> bool:
    """Return whether a file is in the folder and stores the columns as the table has them."""
    is_inside = path.startswith(f"{folder}/") and ".." not in path.split("/")
    if not is_inside or not path.endswith(".parquet") or _PATTERN & set(path):
        return False
    stored = _stored_types(path)
    return stored is not None and all(stored.get(one.name) == to_arrow(one.type) for one in wanted)


@lru_cache(maxsize=10_000)
def _stored_types(path: str) -> dict[str, pa.DataType] | None:
    """Return the types of the columns of a file, which never changes; None if it is unusual."""
    try:
        with pa.OSFile(path, "rb") as file:
            schema: pa.Schema = open_reader(file).schema_arrow
    except (pa.ArrowException, OSError):
        return None
    names = {name.lower() for name in schema.names}
    return dict(zip(schema.names, schema.types, strict=True)) if len(names) == len(schema) else None
