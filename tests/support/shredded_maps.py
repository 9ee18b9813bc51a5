"""Tables with maps in other layouts than Parquet's own, as other writers left them.

`shredded_maps.tar.xz` holds one table for each of: `java_parquet`, `java_orc`, `java_types` and
`java_map_of_blobs` (Java 2.0.0); `pypaimon_two` and `pypaimon_four` (pypaimon 2.1.0, with two and
four physical columns).
"""

from pathlib import Path

from paimon_explore import Table, open_table
from support.archives import unpack

ARCHIVE = Path(__file__).with_name("shredded_maps.tar.xz")


def table_of(name: str, folder: Path) -> Table:
    """One of the tables, unpacked into a folder."""
    return open_table(unpack(ARCHIVE, name, folder))
