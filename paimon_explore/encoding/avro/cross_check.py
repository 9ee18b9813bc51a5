"""Avro files decoded a second time, by fastavro, and compared with our columns.

Logical types are ignored on both sides: the stored integers and bytes are compared.
"""

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa

from paimon_explore.encoding.avro.column_decoder import natural_field
from paimon_explore.encoding.avro.container import read_header
from paimon_explore.encoding.avro.fastavro_reader import fastavro_records, without_logical_types
from paimon_explore.encoding.avro.reader import read_columns
from paimon_explore.encoding.avro.schema import parse_avro_schema, top_record
from paimon_explore.errors import CorruptFileError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sanitize import sanitized

FieldPath: TypeAlias = tuple[str, ...]
"""Names of the fields from the record down."""
Columns: TypeAlias = "Mapping[FieldPath, pa.ChunkedArray[pa.Scalar[pa.DataType]]]"

MOST_DISAGREEMENTS = 10
"""A comparison ends after so many."""
_ROWS_AT_ONCE = 1024
_LONGEST_VALUE = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A value that two decoders read differently.

    Attributes:
        record: number of the record in the file, from 0.
        field: names of the fields from the record down, with dots; empty for the whole record.
        ours: what our decoder reads.
        theirs: what fastavro reads, or why it cannot.
    """

    record: int
    field: str
    ours: str
    theirs: str

    def __str__(self) -> str:
        field = f", field {self.field}" if self.field else ""
        return sanitized(
            f"record {self.record:,}{field}: paimon_explore reads {self.ours}, "
            f"fastavro reads {self.theirs}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossCheck:
    """The result of comparing a file.

    Attributes:
        records: how many records were compared, from the first one on.
        is_whole: whether these are all records of the file.
        disagreements: the first ones, in the order of the file.
    """

    records: int
    is_whole: bool
    disagreements: tuple[Disagreement, ...]

    def __str__(self) -> str:
        what = f"{'all' if self.is_whole else 'the first'} {self.records:,} records"
        if not self.disagreements:
            return f"fastavro agrees on {what}"
        return f"fastavro disagrees within {what}: {self.disagreements[0]}"


def cross_check(
    data: bytes, path: str, columns: Columns, max_records: int | None = None
) -> CrossCheck:
    """Compare columns with the records that fastavro decodes, value by value.

    Args:
        data: an Avro file.
        path: its path, for messages.
        columns: what was decoded from it, by the path of the field in the file's records; members
            of records have the names of the file. At least one, all of the same length.
        max_records: compare only so many records from the first one on; None for all.
    """
    rows = len(next(iter(columns.values())))
    wanted = rows if max_records is None else min(rows, max_records)
    return _compared(data, path, columns, wanted)


def _compared(
    data: bytes, path: str, columns: Columns, wanted: int, until: float = math.inf
) -> CrossCheck:
    """Compare the wanted number of records, but none after `until` by the monotonic clock."""
    rows = len(next(iter(columns.values())))
    theirs = fastavro_records(data, path)
    ours = _rows(columns)
    found: list[Disagreement] = []
    compared = 0
    try:
        while len(found) < MOST_DISAGREEMENTS and (compared < wanted or compared == rows):
            if time.monotonic() > until:
                break
            row, record = next(ours, None), next(theirs, None)
            if row is None and record is None:
                break
            if row is None or record is None:
                found.append(_missing(compared, ours=row is not None))
                break
            found += _differences(compared, row, record)
            compared += 1
    except CorruptFileError as error:
        refusal = f"nothing ({error.where}: {error.rule})"
        found.append(Disagreement(record=compared, field="", ours="a record", theirs=refusal))
    return CrossCheck(
        records=compared, is_whole=compared == rows, disagreements=tuple(found[:MOST_DISAGREEMENTS])
    )


def _missing(number: int, *, ours: bool) -> Disagreement:
    said = ("a record", "the end of the file")
    return Disagreement(
        record=number, field="", ours=said[0 if ours else 1], theirs=said[1 if ours else 0]
    )


def _rows(columns: Columns) -> Iterator[list[tuple[FieldPath, object]]]:
    rows = len(next(iter(columns.values())))
    for first in range(0, rows, _ROWS_AT_ONCE):
        some = [_values(column.slice(first, _ROWS_AT_ONCE)) for column in columns.values()]
        for values in zip(*some, strict=True):
            yield list(zip(columns, values, strict=True))


def _values(column: "pa.ChunkedArray[pa.Scalar[pa.DataType]]") -> list[object]:
    return [*column.to_pylist()]  # type: ignore[misc]  # in stubs


def _differences(
    number: int, row: Sequence[tuple[FieldPath, object]], record: Mapping[str, object]
) -> Iterator[Disagreement]:
    for path, ours in row:
        theirs: object = record
        for name in path:
            theirs = theirs.get(name) if isinstance(theirs, dict) else None
        if not _same(ours, theirs):
            yield Disagreement(
                record=number, field=".".join(path), ours=_brief(ours), theirs=_brief(theirs)
            )


def _same(ours: object, theirs: object) -> bool:
    """Whether two values are equal; members of records that only fastavro has do not count."""
    if isinstance(theirs, dict):
        if isinstance(ours, list):  # a map in Arrow
            ours = dict(ours)
            if len(ours) != len(theirs):
                return False
        return isinstance(ours, dict) and all(
            _same(value, theirs.get(name)) for name, value in ours.items()
        )
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(_same, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        return ours == theirs or (ours != ours and theirs != theirs)  # noqa: PLR0124 - NaN
    return type(ours) is type(theirs) and ours == theirs


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def cross_check_beginning(data: bytes, path: str, end: int, *, most_seconds: float) -> CrossCheck:
    """Decode the first records of an Avro file twice, and compare them.

    Args:
        data: an Avro file.
        path: its path, for messages.
        end: where the last block ends that is compared.
        most_seconds: stop comparing after so long.

    Raises:
        CorruptFileError: our decoder cannot read the blocks.
    """
    until = time.monotonic() + most_seconds
    raw = json.dumps(without_logical_types(json.loads(read_header(data).schema)))
    record = top_record(parse_avro_schema(raw.encode()))
    fields = [natural_field(name, inner) for name, inner in record.fields]
    some = data[:end]
    table, _ = read_columns([(path, some)], fields)
    columns: Columns = {(field.name,): table.column(field.name) for field in fields}
    found = _compared(some, path, columns, len(table), until)
    is_whole = found.is_whole and end == len(data)
    return CrossCheck(records=found.records, is_whole=is_whole, disagreements=found.disagreements)
