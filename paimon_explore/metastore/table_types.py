"""Which types of tables a catalog creates.

Java's filesystem and JDBC catalogs refuse format tables and object tables; REST servers and Hive
metastores have format tables.
"""

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.metadata.options.option_enums import TableKind
from paimon_explore.metadata.options.table_options import TYPE, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metastore.identifier import Identifier

PAIMON_TABLES = frozenset({TableKind.TABLE, TableKind.MATERIALIZED_TABLE})
"""Types of tables that have snapshots."""


def check_paimon_table(wanted: Identifier, schema: TableSchema, where: str) -> None:
    """Check that a new table has snapshots.

    Args:
        wanted: its name.
        schema: its schema.
        where: who creates it, for the error.

    Raises:
        UnsupportedFeatureError: it is a format table, an object table or one of another type.
    """
    kind = TableOptions(schema.options).value(TYPE)
    if kind not in PAIMON_TABLES:
        raise UnsupportedFeatureError(
            f"creating a table of type {kind.value!r} {where}",
            wanted.full_name,
            hint="Create a format table by create_format_table of a REST or Hive catalog.",
        )
