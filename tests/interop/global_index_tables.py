"""Tables with global indexes of Java and pypaimon; as a script, the archive of them made anew.

PYTHONPATH=.:tests:tests/interop python tests/interop/global_index_tables.py FOLDER
"""

import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

from oracle import JavaPaimon
from support.global_indexes import (
    ARCHIVE,
    INDEXED_ROWS,
    JAVA_TABLES,
    PYPAIMON_TABLES,
    TYPES,
    given,
)

OPTIONS: Mapping[str, str] = {
    "row-tracking.enabled": "true",
    "data-evolution.enabled": "true",
    "bucket": "-1",
    "manifest.compression": "zstd",
}
_PYPAIMON = Path(__file__).parents[2] / ".venv-peers" / "bin" / "python"
_BUILD = """
import sys
from pypaimon.globalindex.create_global_index import create_global_index
from pypaimon.catalog.catalog_factory import CatalogFactory
warehouse, name, kind, columns = sys.argv[1:]
table = CatalogFactory.create({"warehouse": warehouse}).get_table("db." + name)
for column in columns.split(","):
    try:
        assert create_global_index(table, column, kind) > 0, column
    except (ValueError, TypeError) as error:
        print(column, error)
"""


def write(java: JavaPaimon, folder: Path, rows: list[dict[str, object]]) -> None:
    """Write rows in files of 10."""
    for start in range(0, len(rows), 10):
        java.write(folder, rows[start : start + 10])


def main(folder: Path) -> None:
    """Write the archive beside `support.global_indexes`, working in an empty folder."""
    rows = given()
    tables: dict[str, Path] = {}
    with JavaPaimon() as java:
        for name in (*JAVA_TABLES, *PYPAIMON_TABLES):
            table = tables[name] = folder / "db.db" / name
            kind, options = JAVA_TABLES.get(name, ("", {}))
            java.create_table(table, list(TYPES.items()), options={**OPTIONS, **options})
            write(java, table, rows[:INDEXED_ROWS])
            if kind:
                for column in TYPES:
                    java.create_global_index(table, column, kind)
            else:
                build = [str(folder), name, PYPAIMON_TABLES[name], ",".join(TYPES)]
                subprocess.run([_PYPAIMON, "-c", _BUILD, *build], check=True)  # noqa: S603 - fixed
            write(java, table, rows[INDEXED_ROWS:])
            java.expire(table, {"snapshot.num-retained.max": "1", "snapshot.num-retained.min": "1"})
    with tarfile.open(ARCHIVE, "w:xz") as archive:
        for name, table in tables.items():
            for path in sorted(table.rglob("*")):
                if path.is_file():
                    archive.add(path, arcname=f"{name}/{path.relative_to(table).as_posix()}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
