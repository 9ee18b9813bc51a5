"""Every kind of table that others have written, written and compacted by us and Java in turn.

For each golden table an empty one of the same schema and options is made. After every step Java
must read the rows that we read and show the same system tables, and so must pypaimon and Rust, as
far as they know the kind of table.

A run takes a selection, and looks at the system tables and the peers after some steps; with
PAIMON_EXPLORE_EVERY_KIND=1 it takes all tables (ten minutes), and a deep run looks after each step.
"""

import os
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from golden_kinds import GoldenKind, make_kind, steps
from oracle import JavaPaimon, JavaPaimonError
from paimon_explore.errors import UnsupportedFeatureError
from peers import PEERS, Peer, PeerError, Peers
from support.depth import DEEP
from support.golden import GoldenTables
from support.rows import difference
from support.system_rows import facts

pytestmark = pytest.mark.interop

SYSTEM = ("snapshots", "manifests", "files", "partitions", "buckets")
EVERY = bool(os.environ.get("PAIMON_EXPLORE_EVERY_KIND"))
LOOKED_AT = {"append more", "minor compaction", "java compacts", "overwrite", "append at last"}
"""The steps after which a short run also compares system tables and asks the peers."""
SOME = (
    *("append_csv", "append_row_format", "blob_more", "data_evolution", "global_btree"),
    *("row_tracking_dv", "clustering_incremental", "external_paths", "variant_inferred"),
    *("vector_type", "pk_index_btree", "record_expire", "per_level", "thin_mode"),
    *("path_directory", "odd_names", "roll_rows", "me_agg_more_partial", "cl_full_partial"),
    *("dv_bitmap64", "append_dv", "pk_dynamic_part", "fi_more", "defaults20"),
)
WRITERS = ("java200", "pypaimon21", "rust04")
NO_ROWS = {
    *((writer, name) for writer in WRITERS for name in ("empty_table", "pk_postpone")),
    *(("pypaimon21", "me_first_row"), ("rust04", "me_first_row")),
}
"""Golden tables without rows to take."""
ELSEWHERE = {"chain_table"}
"""Written through branches of their own."""
REFUSED: Mapping[str, str] = {
    "pk_cross_deduplicate": "overwriting partitions of a table whose primary key",
    "pk_cross_first_row": "overwriting partitions of a table whose primary key",
    "pk_cross_partial_update": "overwriting partitions of a table whose primary key",
}
"""What we do not write or compact, by the reason given."""
JAVA_CANNOT: Mapping[str, str] = {
    # its form of timestamp partitions is not the one that it parses
    "append_part_types2": "could not be parsed",
    # the jar lacks a class
    "lookup_remote": "NoClassDefFoundError",
    # Java's name of that codec in ORC files is another
    "append_orc": "CompressionKind.UNCOMPRESSED",
    "comp_orc_uncompressed": "CompressionKind.UNCOMPRESSED",
    "pk_orc": "CompressionKind.UNCOMPRESSED",
    # engines do that
    "postpone_compacted": "IllegalArgumentException",
    "pk_cross_deduplicate": "needs an engine",
    "pk_cross_first_row": "needs an engine",
    "pk_cross_partial_update": "needs an engine",
}
PEERS_CANNOT: Mapping[Peer, str] = {
    "py": (
        r"MULTISET|does not yet implement|'csv' format|is it an avro file|was expecting a tuple"
        r"|Invalid magic number|not yet supported"
        r"|was expecting a dict"  # its merges take maps of rows apart
        r"|KeyError: 'avro.schema'"  # manifests that are not Avro files
    ),
    "rust": (
        r"missing first_row_id|partition key|invalid magic bytes|is not supported|csv"
        r"|unsupported error"
    ),
}
"""Errors by which peers say that they do not read a kind of table, whoever wrote it."""
PEERS_MISREAD: Mapping[tuple[Peer, str], str] = {
    ("py", "all_types_pk_orc"): "merges lose nanoseconds",
    ("py", "all_types_pk_parquet"): "merges lose nanoseconds",
    ("py", "pk_all_key_types"): "merges lose nanoseconds",
    ("rust", "all_types_append_avro"): "parts of nested rows are lost",
    ("rust", "all_types_pk_avro"): "parts of nested rows are lost",
    ("py", "cl_lookup_agg"): "merges complete rows of upper levels again",
    ("rust", "cl_lookup_agg"): "merges complete rows of upper levels again",
    ("rust", "me_agg_more_aggregation"): "keys of nested rows",
    ("rust", "me_agg_more_partial"): "keys of nested rows",
    ("rust", "variant_given"): "bytes of variants put together again differ",
    ("rust", "variant_inferred"): "bytes of variants put together again differ",
    ("py", "seq_snapshot"): "order by snapshots",
    ("rust", "seq_snapshot"): "order by snapshots",
}
"""Kinds of which peers get rows wrong that Java and we agree on."""


def kinds() -> list[tuple[str, str]]:
    """The golden tables to take, by writer and name."""
    if not EVERY:
        return [("java200", name) for name in SOME]
    archives = Path(__file__).parents[1] / "golden"
    found = []
    for writer in WRITERS:
        with tarfile.open(archives / f"{writer}.tar.xz") as archive:
            paths = [Path(name).parts for name in archive.getnames()]
        names = {parts[2] for parts in paths if parts[1:2] == ("expected",) and len(parts) > 2}
        found += [(writer, name) for name in sorted(names - ELSEWHERE)]
    return [pair for pair in found if pair not in NO_ROWS]


@pytest.mark.parametrize(("writer", "name"), kinds())
def test_a_table_of_this_kind_is_written_by_us_and_read_by_all(
    golden: GoldenTables, java: JavaPaimon, peers: Peers, warehouse: Path, writer: str, name: str
) -> None:
    kind = make_kind(golden.table(writer, name), warehouse / "gold.db" / name)
    assert len(kind.rows)
    done = 0
    for step, act in steps(kind, java).items():
        try:
            act()
        except UnsupportedFeatureError as refusal:
            if not is_known(refusal, REFUSED.get(name)):
                raise
            continue
        except JavaPaimonError as error:
            if not is_known(error, JAVA_CANNOT.get(name)):
                raise
            continue
        done += 1
        found = against_java(java, kind)
        if EVERY or DEEP or step in LOOKED_AT:
            found += [*system_tables(java, kind), *against_peers(peers, kind, warehouse)]
        assert found == [], f"after: {step}"
    assert kind.table.maintenance.fsck() == []
    assert done or name in REFUSED


def is_known(error: Exception, reason: str | None) -> bool:
    """Whether an error has the reason that is expected."""
    return reason is not None and reason in str(error)


def against_java(java: JavaPaimon, kind: GoldenKind) -> list[str]:
    """What differs between the rows of Java and ours at the latest snapshot."""
    found = difference(java.read(kind.folder), kind.table.to_arrow(), kind.unordered)
    return [found] if found else []


def system_tables(java: JavaPaimon, kind: GoldenKind) -> list[str]:
    """What differs between the system tables of Java and ours."""
    table = kind.table
    found = []
    for system in SYSTEM:
        rows = table.inspect.system_table(system).to_arrow()
        columns = rows.schema.names
        try:
            theirs = java.system_table(kind.folder, system)
        except JavaPaimonError as error:
            if not is_known(error, JAVA_CANNOT.get(kind.folder.name)):
                found.append(f"${system}: {error}")
            continue
        known = [name for name in columns if name in theirs.schema.names]
        if facts(theirs, known) != facts(rows, known):
            found.append(f"${system} of Java: {facts(theirs, known)}, ours: {facts(rows, known)}")
    return found


def against_peers(peers: Peers, kind: GoldenKind, warehouse: Path) -> list[str]:
    """What differs between the peers and us at the latest snapshot."""
    name = kind.folder.name
    ours = kind.table.to_arrow()
    found = []
    for peer in PEERS:
        try:
            theirs = peers.read(peer, warehouse, f"gold.{name}")
        except PeerError as error:
            if not re.search(PEERS_CANNOT[peer], str(error)):
                found.append(str(error))
            continue
        if theirs.num_columns == 0:  # Rust gives no batch, and so no schema, without rows
            differs = "" if ours.num_rows == 0 else "no rows"
        else:
            differs = difference(ours, theirs, kind.unordered)
        if differs and (peer, name) not in PEERS_MISREAD:
            found.append(f"{peer}: {differs}")
    return found
