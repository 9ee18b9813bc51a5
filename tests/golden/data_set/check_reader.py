"""Tests a reader of Paimon tables against the golden tables. Needs Python 3.11 and pyarrow.

    python check_reader.py --only 'java200/append_*' -- COMMAND

For each read, `COMMAND TABLE POINT` is run. TABLE is the folder of a table. POINT is `latest`, the
id of a snapshot or `tag:NAME`, in a branch after `BRANCH@`. The command prints the rows as an Arrow
IPC stream or file, or as JSON lines, and ends with status 0. With status 3 it says that it does not
support the table; the reason is the last line on standard error. README.md has the details.
"""

import argparse
import fnmatch
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

UNSUPPORTED = 3
"""The exit status of a reader that does not support a table."""
RIGHT, WRONG, FAILED, REFUSED = "right", "wrong", "failed", "unsupported"
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_FRACTION = 9
_UTC = re.compile(r"(Z|\+00:?00)$")
_SHOWN = 300


@dataclass(frozen=True)
class Result:
    """The outcome of one read: `right`, `wrong`, `failed` or `unsupported`, and what differs."""

    table: str
    point: str
    outcome: str
    detail: str = ""


@dataclass(frozen=True)
class Read:
    """One read: a table of manifest.json and one of its `reads`."""

    table: dict[str, Any]
    read: dict[str, Any]

    def result(self, outcome: str, detail: str = "") -> Result:
        """Return the outcome of this read."""
        return Result(self.table["id"], self.read["point"], outcome, detail[:_SHOWN])


def main() -> int:
    """Run the reads that the command line asks for; 0 if none is wrong and none failed."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--folder", type=Path, default=Path(__file__).resolve().parent)
    arguments.add_argument("--only", action="append", help="tables by pattern, as WRITER/NAME")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count(), help="reads at a time")
    arguments.add_argument("--timeout", type=float, default=60, help="seconds for one read")
    arguments.add_argument("--report", type=Path, help="a file for all outcomes, as JSON lines")
    arguments.add_argument("--strict", action="store_true", help="unsupported tables are errors")
    arguments.add_argument("command", nargs="+", help="the reader, after --")
    given = arguments.parse_args()
    manifest = json.loads((given.folder / "manifest.json").read_text(encoding="utf-8"))
    reads = list(chosen(manifest, given.only or ["*"]))
    place_external(given.folder, [one.table for one in reads])

    def check(one: Read) -> Result:
        return checked(given.folder, one, given.command, given.timeout)

    with ThreadPoolExecutor(given.jobs) as pool:
        results = list(pool.map(check, reads))
    report(results)
    if given.report:
        lines = [json.dumps(asdict(one)) for one in results]
        given.report.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    bad = {WRONG, FAILED, REFUSED} if given.strict else {WRONG, FAILED}
    return int(not results or any(one.outcome in bad for one in results))


def chosen(manifest: dict[str, Any], patterns: Sequence[str]) -> Iterator[Read]:
    """The reads of the tables that a pattern matches."""
    for table in manifest["tables"]:
        if any(fnmatch.fnmatchcase(table["id"], pattern) for pattern in patterns):
            for read in table["reads"]:
                yield Read(table, read)


def place_external(folder: Path, tables: Sequence[dict[str, Any]]) -> None:
    """Copy data files outside tables to the absolute paths that the tables name."""
    for table in tables:
        for target, source in table["external"].items():
            shutil.copytree(folder / source, target, dirs_exist_ok=True)


def checked(folder: Path, one: Read, command: Sequence[str], timeout: float) -> Result:
    """Run the reader for one read, and compare its rows."""
    words = [*command, str(folder / one.table["folder"]), one.read["point"]]
    try:
        ran = subprocess.run(words, capture_output=True, timeout=timeout, check=False)  # noqa: S603 - the user's command
    except subprocess.TimeoutExpired:
        return one.result(FAILED, f"no answer in {timeout:g} s")
    if ran.returncode != 0:
        said = ran.stderr.decode(errors="replace").strip().splitlines() or [""]
        outcome = REFUSED if ran.returncode == UNSUPPORTED else FAILED
        return one.result(outcome, said[-1] or f"exit status {ran.returncode}")
    files = [one.read["rows"], *([one.read["or"]] if "or" in one.read else [])]
    differences = []
    for name in files:
        expected = pq.read_table(folder / name)
        try:
            found = rows_of(ran.stdout, expected.schema)
        except (ValueError, TypeError, KeyError, ArithmeticError, pa.ArrowException) as error:
            return one.result(FAILED, f"the output cannot be read: {error}")
        differences.append(difference(one.table, expected, found))
    return one.result(RIGHT) if "" in differences else one.result(WRONG, differences[0])


def rows_of(output: bytes, schema: pa.Schema) -> pa.Table:
    """The rows that a reader printed, in one of the three forms."""
    if output.startswith(b"ARROW1"):
        with pa.ipc.open_file(output) as file:
            return file.read_all()
    if output.startswith(b"\xff\xff\xff\xff"):
        with pa.ipc.open_stream(output) as stream:
            return stream.read_all()
    lines = output.decode().splitlines()
    rows = [json.loads(line, parse_float=Decimal) for line in lines if line]
    unknown = {name for row in rows for name in row} - set(schema.names)
    if unknown:
        raise ValueError(f"unknown columns {sorted(unknown)}")
    columns = [
        pa.array([value_of(row.get(field.name), field.type) for row in rows], field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def value_of(value: Any, kind: pa.DataType) -> Any:  # noqa: ANN401 - JSON
    """A value of JSON as one of an Arrow type."""
    if value is None:
        return None
    if pa.types.is_nested(kind):
        return nested_value(value, kind)
    if isinstance(kind, pa.TimestampType | pa.Time32Type | pa.Time64Type):
        day = "1970-01-01T" if pa.types.is_time(kind) else ""
        return ticks(f"{day}{value}", kind.unit) if isinstance(value, str) else value
    for matches, convert in _SCALARS:
        if matches(kind):
            return convert(value)
    return value


def nested_value(value: Any, kind: Any) -> Any:  # noqa: ANN401 - JSON
    """A list, a map or a row."""
    if pa.types.is_map(kind):
        pairs = value.items() if isinstance(value, dict) else value
        return [(value_of(k, kind.key_type), value_of(v, kind.item_type)) for k, v in pairs]
    if pa.types.is_struct(kind):
        members = [kind.field(i) for i in range(kind.num_fields)]
        is_object = isinstance(value, dict)
        values = [value.get(one.name) for one in members] if is_object else value
        pairs = zip(members, values, strict=True)
        return {member.name: value_of(one, member.type) for member, one in pairs}
    return [value_of(one, kind.value_type) for one in value]


_SCALARS: Sequence[tuple[Callable[[pa.DataType], bool], Callable[[Any], Any]]] = (
    (pa.types.is_integer, int),
    (pa.types.is_floating, float),
    (pa.types.is_decimal, lambda value: Decimal(str(value))),
    (pa.types.is_date, lambda v: date.fromisoformat(v) if isinstance(v, str) else v),
    (pa.types.is_binary, bytes.fromhex),
    (pa.types.is_large_binary, bytes.fromhex),
    (pa.types.is_fixed_size_binary, bytes.fromhex),
)
"""How texts and numbers of JSON become values of flat types."""


def ticks(text: str, unit: str) -> int:
    """A time such as `2026-01-31T12:00:00.123456789` as a number of units since 1970."""
    whole, _, fraction = _UTC.sub("", text).replace(" ", "T").partition(".")
    since = datetime.fromisoformat(whole) - datetime(1970, 1, 1)  # noqa: DTZ001 - both are UTC
    seconds = since.days * 86_400 + since.seconds
    nanos = int(fraction[:_FRACTION].ljust(_FRACTION, "0"))
    per_second = _TICKS[unit]
    return seconds * per_second + nanos * per_second // 1_000_000_000


def difference(table: dict[str, Any], expected: pa.Table, found: pa.Table) -> str:
    """Empty if both have the same columns and rows, in any order; else what differs."""
    if found.num_columns == 0 and expected.num_rows == 0:
        return ""  # a stream without batches
    names = expected.column_names
    if names != found.column_names:
        return f"columns {found.column_names}, expected {names}"
    want, have = rows(table, expected), rows(table, found)
    missing, extra = want - have, have - want
    if not missing and not extra:
        return ""
    counts = f"{missing.total()} rows missing, {extra.total()} rows too many"
    return f"{counts}; missing {next(iter(missing), '-')}; not expected {next(iter(extra), '-')}"


def rows(table: dict[str, Any], found: pa.Table) -> Counter[str]:
    """The rows as texts, with their numbers."""
    columns = []
    for name in found.column_names:
        values = [v for chunk in found.column(name).chunks for v in exact(chunk)]
        if name in table["variant"]:  # one value has several encodings
            values = [v is not None for v in values]
        if name in table["unordered"]:
            values = [None if v is None else sorted(v, key=repr) for v in values]
        columns.append(values)
    return Counter(map(repr, zip(*columns, strict=True)))


def exact(array: Any) -> list[Any]:  # noqa: ANN401 - any Arrow array
    """Values that are equal if and only if those of the tables are, whatever the Arrow type."""
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return exact(array.storage)
    if pa.types.is_dictionary(kind):
        return exact(array.dictionary_decode())
    if pa.types.is_nested(kind):
        return nested(array)
    if isinstance(kind, pa.TimestampType | pa.Time32Type | pa.Time64Type):
        factor = 1_000_000_000 // _TICKS[kind.unit]
        whole = array.cast(pa.int32() if kind.bit_width < 64 else pa.int64()).to_pylist()
        return [None if v is None else v * factor for v in whole]
    if pa.types.is_date32(kind):
        return list(array.cast(pa.int32()).to_pylist())
    return [plain(value) for value in array.to_pylist()]


def plain(value: object) -> object:
    """A flat value: floats by their bits, where 0.0 is -0.0; decimals without trailing zeros."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else (value + 0.0).hex()
    if isinstance(value, Decimal):
        text = f"{value:f}"
        return f"decimal {text.rstrip('0').rstrip('.') if '.' in text else text}"
    return value


def nested(array: Any) -> list[Any]:  # noqa: ANN401 - any Arrow array
    """Values of lists, maps and rows."""
    kind = array.type
    valid = array.is_valid().to_pylist()
    if pa.types.is_struct(kind):
        members = [exact(array.field(i)) for i in range(kind.num_fields)]
        return [tuple(m[i] for m in members) if ok else None for i, ok in enumerate(valid)]
    if pa.types.is_fixed_size_list(kind):
        return [exact(one.values) if one.is_valid else None for one in array]
    at = array.offsets.to_pylist()
    if pa.types.is_map(kind):
        pairs = list(zip(exact(array.keys), exact(array.items), strict=True))
        items: list[Any] = pairs
    else:
        items = exact(array.values)
    found = [items[at[i] : at[i + 1]] if ok else None for i, ok in enumerate(valid)]
    if pa.types.is_map(kind):  # maps have no order
        return [None if v is None else sorted(v, key=repr) for v in found]
    return found


def report(results: Sequence[Result]) -> None:
    """Print what is not right, and the counts of each writer."""
    for one in results:
        if one.outcome != RIGHT:
            print(f"{one.outcome}: {one.table} {one.point}: {one.detail}")  # noqa: T201 - a program
    for writer in sorted({one.table.partition("/")[0] for one in results}):
        own = [one for one in results if one.table.startswith(f"{writer}/")]
        counts = Counter(one.outcome for one in own)
        told = ", ".join(f"{counts[what]} {what}" for what in (RIGHT, REFUSED, WRONG, FAILED))
        print(f"{writer}: {len(own)} reads: {told}")  # noqa: T201 - a program


if __name__ == "__main__":
    sys.exit(main())
