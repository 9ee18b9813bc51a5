"""Reads a table with pypaimon: python pypaimon_reader.py TABLE POINT."""

import os
import sys
from pathlib import Path

import pyarrow as pa
from pypaimon import CatalogFactory

UNSUPPORTED = 3


def read(folder: Path, point: str) -> pa.Table:
    """The rows of a table at a point."""
    branch, _, place = point.rpartition("@")
    catalog = CatalogFactory.create({"warehouse": str(folder.parents[1])})
    name = f"{folder.name}$branch_{branch}" if branch else folder.name
    table = catalog.get_table(f"{folder.parent.stem}.{name}")
    if place.startswith("tag:"):
        table = table.copy({"scan.tag-name": place.removeprefix("tag:")})
    elif place != "latest":
        table = table.copy({"scan.snapshot-id": place})
    builder = table.new_read_builder()
    rows: pa.Table = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    return rows


def main() -> int:
    """Print the rows as an Arrow IPC stream; what pypaimon prints goes to standard error."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        rows = read(Path(sys.argv[1]), sys.argv[2])
    except NotImplementedError as error:
        sys.stderr.write(f"{error}\n")
        return UNSUPPORTED
    with output, pa.ipc.new_stream(output, rows.schema) as stream:
        stream.write_table(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
