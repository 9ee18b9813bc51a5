"""migrate_table and migrate_database: tables of other formats as Paimon tables.

The source is a table of the engine's own catalog, which is the Hive metastore in a Spark session
with Hive support, or a folder of Parquet files with partitions as folders (`dt=1/…`). Its rows are
written to a new Paimon table in one commit. Java moves the files instead, and reads only Parquet,
ORC and Avro tables.
"""

from collections.abc import Mapping

from paimon_explore.errors import PaimonError
from paimon_explore.sql_statements.clauses import check_options
from paimon_explore.sql_statements.engine import ForeignTable
from paimon_explore.sql_statements.outcome import Answer, answer, row_type_of
from paimon_explore.sql_statements.procedures.call_arguments import Call, Procedures
from paimon_explore.sql_statements.tokenizer import Reader

MIGRATIONS = Procedures()
"""The procedures by name."""


def _check_type(one: Call) -> None:
    kind = one.needed("source_type")
    if kind.lower() != "hive":
        raise one.problem(f"source_type = {kind!r} is unknown", "Use 'hive'.")


def _options(one: Call) -> dict[str, str]:
    given = one.values.get("options_map")
    more = (
        {str(key): str(text) for key, text in given.items()} if isinstance(given, Mapping) else {}
    )
    options = {**one.options(), **more}
    check_options(list(options), "options")
    return options


def _migrate(one: Call, source: ForeignTable, target: str, *, drops: bool) -> None:
    """Create a table with the rows of a source, then drop the source."""
    catalog = one.warehouse.warehouse()
    made = catalog.create_table(
        target,
        row_type_of(source.rows.fields, "a table"),
        partition_by=source.partition_by,
        options=_options(one),
    )
    try:
        source.rows.insert_into(made)
    except BaseException:
        catalog.drop_table(target)
        raise
    if drops and source.name:
        one.warehouse.engine.drop_foreign_table(source)


@MIGRATIONS.add(
    "source_type", "table", "options", "delete_origin", "target_table", "options_map", "parallelism"
)
def _migrate_table(one: Call) -> None:
    _check_type(one)
    text = one.needed("table")
    given = one.text("target_table")
    if "/" in text and given is None:
        raise one.problem("the argument 'target_table' is missing, which a folder requires")
    source = one.warehouse.engine.foreign_table(
        Reader(text).path("the table") if "/" not in text else (text,)
    )
    path = Reader(text if given is None else given).path("the target table")
    target = one.warehouse.named(path).table
    _migrate(one, source, target, drops=one.flag("delete_origin", default=True))


@MIGRATIONS.add("source_type", "database", "options", "options_map", "parallelism")
def _migrate_database(one: Call) -> Answer:
    _check_type(one)
    database, engine = one.needed("database"), one.warehouse.engine
    done, failed = 0, list[str]()
    for name in engine.foreign_tables(database):
        try:
            target = one.warehouse.named((database, name)).table
            _migrate(one, engine.foreign_table((database, name)), target, drops=True)
            done += 1
        except PaimonError as error:
            failed.append(f"{name}: {str(error).partition(chr(10))[0]}")
    text = f"migrate database is finished, success cnt: {done} , failed cnt: {len(failed)}"
    problems = "".join(f"; {problem}" for problem in failed)
    return answer("result string", [(text + problems,)])
