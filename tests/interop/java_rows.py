"""Java's rows of our tables compared with ours, and Java's compaction of any table."""

from oracle import JavaPaimon
from paimon_explore import Table
from support.rows import difference


def differences(java: JavaPaimon, table: Table) -> list[str]:
    """How the snapshots differ between Java and us."""
    found = {}
    for snapshot in table.snapshots:
        theirs = java.read(table.path, snapshot=snapshot.id)
        found[snapshot.id] = difference(theirs, table.at(snapshot=snapshot.id).to_arrow())
    return [f"snapshot {number}: {text}" for number, text in found.items() if text]


def compact(java: JavaPaimon, table: Table) -> None:
    """Compact by Java, in the way of the table's kind."""
    if table.schema.primary_keys or table.options.get("bucket", "-1") != "-1":
        java.compact(table.path)
    else:
        java.append_compact(table.path, options={"compaction.min.file-num": "2"})
