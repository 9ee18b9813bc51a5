"""ORC files of Java processes in several time zones; as a script, the archive of them made anew.

PYTHONPATH=.:tests:tests/interop python tests/interop/orc_zones.py FOLDER
"""

import json
import sys
from pathlib import Path

import pyarrow as pa

from oracle import JavaPaimon
from support.orc_zones import ARCHIVE, FORMS, TYPES, ZONES, differences, given, member_name, pack


def written(java: JavaPaimon, folder: Path, form: str, **options: str) -> pa.Table:
    """A table of one file that Java writes in its zone, and the rows that it reads from it."""
    legacy = {"orc.timestamp-ltz.legacy.type": str(form == "legacy").lower()}
    more = {"bucket": "-1", "file.format": "orc", **legacy, **options}
    java.create_table(folder, [("id", "INT"), *TYPES.items()], options=more)
    java.write(folder, given())
    return java.read(folder).sort_by("id")


def main(folder: Path) -> None:
    """Write the archive beside `support.orc_zones`, working in an empty folder."""
    files: dict[str, bytes] = {}
    expected: dict[str, dict[str, object]] = {}
    for zone in ZONES:
        with JavaPaimon(timezone=zone) as java:
            for form in FORMS:
                table = folder / zone.replace("/", "_") / form
                rows = written(java, table, form)
                (file,) = table.glob("bucket-0/*.orc")
                files[member_name(zone, form)] = file.read_bytes()
                expected.setdefault(zone, {})[form] = differences(rows)
    files["expected.json"] = json.dumps(expected, indent=1).encode()
    ARCHIVE.write_bytes(pack(files))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
