import subprocess
import sys

import pytest

from support.golden import GoldenTables

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
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", PROGRAM, folder, where],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == [str(rows), "False"]
