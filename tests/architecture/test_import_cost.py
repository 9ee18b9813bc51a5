from pathlib import Path

import pyarrow as pa
import pytest

from support.new_process import printed
from support.small_tables import new_catalog


def test_importing_the_package_loads_no_engine_no_screen_and_no_pandas() -> None:
    program = (
        "import sys, paimon_explore\n"
        "heavy = ('pandas', 'pyspark', 'ipywidgets', 'anywidget', 'plotly', 'IPython', 'sqlglot')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert printed(program) == "[]"


def test_first_rows_in_sql_load_no_duckdb_and_no_pandas(tmp_path: Path) -> None:
    made = new_catalog(tmp_path).create_table("db.t", pa.schema([("k", pa.int64())]))
    made.append(pa.table({"k": [1, 2]}))
    lines = [
        "import sys, paimon_explore as pe",
        f"t = pe.open_table({made.path!r})",
        "print(pe.sql('SELECT * FROM t LIMIT 1', t=t).to_arrow().num_rows)",
        "unloaded = ('duckdb', 'html', 'pandas', 'pyarrow.parquet')",
        "print([name for name in unloaded if name in sys.modules])",
    ]
    assert printed("\n".join(lines)) == "1\n[]"


@pytest.mark.parametrize(
    "command", [["ls"], ["show"], ["schema"], ["schema", "--options"], ["files"]]
)
def test_listings_load_no_pandas(tmp_path: Path, command: list[str]) -> None:
    made = new_catalog(tmp_path).create_table("db.t", pa.schema([("k", pa.int64())]))
    made.append(pa.table({"k": [1, 2]}))
    where = str(Path(made.path).parents[1]) if command == ["ls"] else made.path
    lines = [
        "import contextlib, io, sys",
        "from paimon_explore.__main__ import main",
        f"sys.argv = ['paimon-explore', *{command!r}, {where!r}]",
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as shown:",
        "    main()",
        "print(shown.getvalue() != '', 'pandas' in sys.modules)",
    ]
    assert printed("\n".join(lines)) == "True False"


def test_importing_the_package_loads_nothing_before_a_name_is_used() -> None:
    program = (
        "import sys, paimon_explore\n"
        "ours = ('paimon_explore.', 'pyarrow', 'numpy')\n"
        "print([name for name in sys.modules if name.startswith(ours)])"
    )
    assert printed(program) == "[]"


def test_every_public_name_is_the_one_of_its_module() -> None:
    program = (
        "import paimon_explore as pe\n"
        "homes = {name: getattr(pe, name).__module__ for name in pe.__all__}\n"
        "print(all(home.startswith('paimon_explore.') for home in homes.values()), len(homes))\n"
    )
    assert printed(program) == "True 12"
