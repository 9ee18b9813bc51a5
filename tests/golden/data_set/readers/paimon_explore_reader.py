"""Reads a table with paimon_explore: python paimon_explore_reader.py TABLE POINT."""

import os
import sys

import pyarrow as pa

import paimon_explore as pe
from paimon_explore.errors import UnsupportedFeatureError

UNSUPPORTED = 3


def read(folder: str, point: str) -> pa.Table:
    """The rows of a table at a point."""
    branch, _, place = point.rpartition("@")
    table = pe.open_table(folder, branch=branch or None)
    if place.startswith("tag:"):
        table = table.at(tag=place.removeprefix("tag:"))
    elif place != "latest":
        table = table.at(snapshot=int(place))
    return table.to_arrow()


def main() -> int:
    """Print the rows as an Arrow IPC stream."""
    try:
        rows = read(*sys.argv[1:])
    except UnsupportedFeatureError as error:
        sys.stderr.write(f"{error}\n")
        return UNSUPPORTED
    with os.fdopen(1, "wb") as output, pa.ipc.new_stream(output, rows.schema) as stream:
        stream.write_table(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
