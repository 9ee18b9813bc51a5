import pytest

from support.golden import GoldenTables
from support.new_process import printed

PROGRAM = """
import sys
import paimon_explore as pe

folder, where = sys.argv[1:]
print(pe.open_table(folder).scan(where=where).to_arrow().num_rows, "pandas" in sys.modules)
"""


@pytest.mark.parametrize(
    ("name", "where", "rows"),
    [
        pytest.param("append_parquet", "id > 3 AND price < 100.5", 10, id="append"),
        pytest.param("append_part_null", "hr = 1 AND id > 2", 24, id="partitioned"),
        pytest.param("pk_parquet", "k > 3 AND v IS NOT NULL", 95, id="primary key"),
        pytest.param("dv_pk", "k < 100", 198, id="deletion vectors"),
    ],
)
def test_a_cold_read_of_parquet_files_loads_no_pandas(
    name: str, where: str, rows: int, golden: GoldenTables
) -> None:
    folder = str(golden.table("java200", name).folder)
    assert printed(PROGRAM, folder, where).split() == [str(rows), "False"]


UNLOADED = (
    *("paimon_explore.inspection", "paimon_explore.maintenance", "paimon_explore.write"),
    *("paimon_explore.commit", "paimon_explore.widgets", "paimon_explore.spark"),
    *(
        "paimon_explore.scan.predicate.sql_parser",
        "paimon_explore.scan.predicate.binder",
        "paimon_explore.scan.predicate.evaluator",
    ),
    *(
        "paimon_explore.scan.pruning.statistics_pruning",
        "paimon_explore.scan.pruning.file_index_filter",
        "paimon_explore.data_types.casts.cast_column",
    ),
    *("paimon_explore.encoding.orc.reader", "paimon_explore.encoding.row_format.row_file"),
    *("paimon_explore.encoding.csv_json", "paimon_explore.encoding.avro.writer"),
    *("paimon_explore.encoding.avro.codecs", "cramjam", "fastavro"),
    *("paimon_explore.encoding.variant.decoder", "paimon_explore.encoding.deletion_vector"),
    *("paimon_explore.encoding.parquet.page_reader", "paimon_explore.merge.aggregators.registry"),
    *("paimon_explore.merge.partial_update", "paimon_explore.fileio.object_store"),
    *("paimon_explore.table.table_write", "paimon_explore.table.maintenance"),
    *("paimon_explore.table.row_changes", "paimon_explore.table.catalog.catalog"),
    *("obstore", "pyroaring", "datasketches", "pandas", "pyarrow.dataset", "pyarrow.orc"),
    *("pyarrow.compute", "tempfile", "urllib.parse", "zoneinfo", "paimon_explore.encoding.blob"),
)
"""What a read without a filter of plain Parquet files has no use for."""

FIRST_BATCH = """
import sys
import paimon_explore as pe

folder, *unloaded = sys.argv[1:]
batch = next(iter(pe.open_table(folder).scan().to_batches()))
print(batch.num_rows > 0, [name for name in unloaded if name in sys.modules])
"""


@pytest.mark.parametrize("name", ["append_parquet", "append_part_null", "pk_parquet"])
def test_the_first_batch_comes_before_what_it_does_not_need_is_loaded(
    name: str, golden: GoldenTables
) -> None:
    folder = str(golden.table("java200", name).folder)
    assert printed(FIRST_BATCH, folder, *UNLOADED).split(maxsplit=1) == ["True", "[]"]


SQL = """
import sys
import paimon_explore as pe

rows = pe.sql("SELECT * FROM t LIMIT 5", t=pe.open_table(sys.argv[1])).to_arrow()
print(rows.num_rows, "pandas" in sys.modules)
"""


def test_the_first_rows_of_sql_load_no_pandas(golden: GoldenTables) -> None:
    folder = str(golden.table("java200", "append_parquet").folder)
    assert printed(SQL, folder).split() == ["5", "False"]
