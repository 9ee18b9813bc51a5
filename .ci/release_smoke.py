"""Tests an installed wheel, without the repository: python .ci/release_smoke.py EXTRA.

EXTRA is `base` for no extra. Each check prints nothing if it holds.
"""

import json
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import paimon_explore as pe

BIN = Path(sys.executable).parent
TOKEN = {"token": "x"}
OTHER = ("click", "pandas", "jupyterlab", "ipywidgets", "pyspark", "httpx", "thrift", "pymysql")
"""Packages that only extras bring."""


def base(folder: Path) -> None:
    """The package alone: tables, and errors that name the extra."""
    assert [name for name in OTHER if find_spec(name)] == []
    catalog = tables(folder)
    raises("paimon-explore[notebook]", lambda: catalog.table("db.t").explore())
    raises("pandas", lambda: catalog.table("db.t").scan().to_pandas())
    raises("paimon-explore[spark]", lambda: pe.spark.session())
    raises(
        "paimon-explore[rest]",
        lambda: pe.Catalog(metastore="rest", uri="http://localhost:1", **TOKEN),
    )
    assert "db.t" in program(0, "show", folder / "own").out
    assert "paimon-explore[cli]" in program(1, "head", folder / "own" / "db.db" / "t").err
    assert "paimon-explore[notebook,spark]" in program(1, "lab", folder / "lab").err


def cli(folder: Path) -> None:
    """The commands."""
    program(0, "demo", folder / "wh")
    orders = folder / "wh" / "demo.db" / "orders"
    assert "snapshot 5" in program(0, "show", orders).out
    rows = program(0, "head", orders, "--json").out.splitlines()
    assert [json.loads(row)["id"] for row in rows][:3] == [0, 3, 102]
    assert pe.__version__ in program(0, "version").out
    assert "_PAIMON_EXPLORE_COMPLETE" in program(0, "completion", "bash").out


def notebook(folder: Path) -> None:
    """Widgets, magics, and the viewer in JupyterLab."""
    from IPython.core.interactiveshell import InteractiveShell  # noqa: PLC0415 - of the extra

    table = tables(folder).table("db.t")
    bundle = table.explore()._repr_mimebundle_()
    shown = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in shown
    assert len(table.scan().to_pandas()) == 2
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "paimon_explore")
    assert shell.find_line_magic("paimon") is not None
    assert shell.find_cell_magic("paimon_trace") is not None
    for kind in ("labextension", "server"):
        listed = run(0, BIN / "jupyter", kind, *(["extension"] if kind == "server" else []), "list")
        name = "paimon-explore" if kind == "labextension" else "paimon_explore"
        line = next(one for one in (listed.out + listed.err).splitlines() if name in one)
        assert "enabled" in line
    package = Path(pe.__file__).parent
    assert len(list((package / "notebooks").glob("*.ipynb"))) >= 11
    assert (package / "py.typed").exists()


def spark(folder: Path) -> None:
    """A session that writes and reads a table."""
    tables(folder)
    session = pe.spark.session()
    try:
        session.range(3).createOrReplaceTempView("r")
        path = str(folder / "own" / "db.db" / "t")
        assert session.read.format("paimon_explore").load(path).count() == 2
    finally:
        session.stop()


def rest(folder: Path) -> None:
    """A server that is not there is named."""
    tables(folder)
    raises(
        "localhost",
        lambda: pe.Catalog(metastore="rest", uri="http://localhost:1", max_retries=0, **TOKEN),
    )


def hive(folder: Path) -> None:
    """A metastore that is not there is named."""
    tables(folder)
    options = {"metastore": "hive", "uri": "thrift://localhost:1", "warehouse": str(folder)}
    raises("localhost", lambda: pe.Catalog(options=options).databases())


def jdbc_postgres(folder: Path) -> None:
    """A database that is not there is named."""
    jdbc(folder, "jdbc:postgresql://localhost:1/x")


def jdbc_mysql(folder: Path) -> None:
    """A database that is not there is named."""
    jdbc(folder, "jdbc:mysql://localhost:1/x")


def jdbc(folder: Path, uri: str) -> None:
    """SQLite works; a server that is not there is named."""
    own = pe.Catalog(
        metastore="jdbc", uri=f"jdbc:sqlite:{folder / 'c.db'}", warehouse=str(folder / "jdbc")
    )
    own.create_database("db")
    assert own.databases() == ["db"]
    raises(
        "localhost",
        lambda: pe.Catalog(metastore="jdbc", uri=uri, warehouse=str(folder / "x")).databases(),
    )


def tables(folder: Path) -> pe.Catalog:
    """The demo, and a table that was written, read, explained and checked."""
    assert "demo.orders" in repr(pe.demo(folder / "demo")) or pe.demo(folder / "demo").tables(
        "demo"
    )
    catalog = pe.Catalog(str(folder / "own"))
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "BIGINT NOT NULL", "v": "STRING"}, primary_key="id")
    table.upsert([{"id": 1, "v": "a"}, {"id": 2, "v": "b"}])
    table.upsert([{"id": 2, "v": "c"}])
    rows = table.scan(where="id >= 1").to_arrow().sort_by("id").to_pylist()
    assert rows == [{"id": 1, "v": "a"}, {"id": 2, "v": "c"}]
    assert "snapshot 2" in repr(table.explain("id = 1"))
    assert not table.maintenance.fsck()
    assert "<" in table._repr_html_()
    return catalog


class Ran:
    """What a program did."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


def program(code: int, *words: object) -> Ran:
    """Run `paimon-explore`, which must end with the code."""
    return run(code, BIN / "paimon-explore", *words)


def run(code: int, *words: object) -> Ran:
    """Run a program, which must end with the code."""
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return Ran(done.returncode, done.stdout, done.stderr)


def raises(said: str, act: object) -> None:
    """An act fails, and its error says something."""
    assert callable(act)
    try:
        act()
    except (pe.PaimonError, ImportError) as error:
        assert said in str(error), (said, str(error))  # noqa: PT017 - runs without pytest
    else:
        raise AssertionError(f"no error says {said}")


CHECKS = {
    "base": base,
    "cli": cli,
    "notebook": notebook,
    "spark": spark,
    "rest": rest,
    "hive": hive,
    "jdbc-postgres": jdbc_postgres,
    "jdbc-mysql": jdbc_mysql,
}
"""The checks by extra."""


def main(extra: str) -> None:
    """Run the checks of an extra."""
    package = Path(pe.__file__)
    assert "site-packages" in package.parts, package
    with tempfile.TemporaryDirectory() as folder:
        CHECKS[extra](Path(folder))
    python = platform.python_version()
    print(f"Python {python}, {extra}: works, pyarrow {version('pyarrow')}")


if __name__ == "__main__":
    main(sys.argv[1])
