"""`Peers`: pypaimon and pypaimon-rust, which need other versions of our own packages.

They live in an environment of their own, made by `.ci/test`, and answer from one process.
"""

import itertools
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import pyarrow as pa

Peer = Literal["py", "rust"]
PEERS: tuple[Peer, ...] = ("py", "rust")
VARIABLE = "PAIMON_EXPLORE_PEERS"
_WORKER = Path(__file__).with_name("peer_worker.py")
_PACKAGE = Path(__file__).parents[2]
_ENVIRONMENT = _PACKAGE / ".venv-peers" / "bin" / "python"
# Threads of Daft may crash a process that ends while they drop objects of Python, after any
# query of a source that is written in Python.
_END_AT_ONCE = """
import os, sys
sys.stdout.flush()
os._exit(0)
"""


class PeerError(RuntimeError):
    """A peer raised an error."""


class PeersMissingError(RuntimeError):
    """There is no environment with the peers."""


def peers_python() -> Path:
    """The interpreter of the environment, which also has Daft and what our package needs.

    Raises:
        PeersMissingError: the message says where the environment is looked for.
    """
    interpreter = Path(os.environ.get(VARIABLE) or _ENVIRONMENT)
    if not interpreter.exists():
        message = f"pypaimon and pypaimon-rust: no {interpreter}; run .ci/test or set {VARIABLE}"
        raise PeersMissingError(message)
    return interpreter


def run_by_peers(code: str, folder: Path) -> str:
    """Run Python code with our package in that environment; returns what it prints.

    Args:
        code: the code.
        folder: the current folder.

    Raises:
        PeersMissingError: there is no environment.
        PeerError: the code failed; the message has what it wrote.
    """
    done = subprocess.run(  # noqa: S603 - the interpreter that the user chose
        [str(peers_python()), "-c", code + _END_AT_ONCE],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(_PACKAGE)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode != 0:
        raise PeerError(done.stderr)
    return done.stdout


class Peers:
    """One process that has both peers. Tables are named `database.table`.

    A warehouse is a folder, or for pypaimon the options of a catalog.

    Raises:
        PeersMissingError: the message says where the environment is looked for.
    """

    def __init__(self, scratch: Path) -> None:
        interpreter = peers_python()
        self._scratch = scratch
        self._numbers = itertools.count()
        self._log = scratch / "peers.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter that the user chose
                [str(interpreter), str(_WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                encoding="utf-8",
            )

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=20)
        self._process.stdout.close()

    def read(
        self,
        peer: Peer,
        warehouse: Path | Mapping[str, str],
        table: str,
        options: Mapping[str, str] | None = None,
    ) -> pa.Table:
        """The rows of a table; dynamic options choose a snapshot."""
        return self._rows(f"{peer}_read", warehouse, table, options=dict(options or {}))

    def system(
        self, peer: Peer, warehouse: Path | Mapping[str, str], table: str, name: str
    ) -> pa.Table:
        """The rows of a system table."""
        if peer == "py":
            return self._rows("py_system", warehouse, table, name=name)
        database, _, short = table.partition(".")
        statement = f'SELECT * FROM paimon.{database}."{short}${name}"'  # noqa: S608 - a test's names
        return self.sql(warehouse, statement)

    def explain(
        self,
        warehouse: Path | Mapping[str, str],
        table: str,
        conditions: Sequence[tuple[str, str, object]],
    ) -> dict[str, object]:
        """What pypaimon counts of a scan; None where it counts nothing."""
        asked = [list(one) for one in conditions]
        rows = self._rows("py_explain", warehouse, table, conditions=asked).to_pylist()
        found: dict[str, object] = rows[0]
        return found

    def create_global_index(
        self, warehouse: Path, table: str, column: str, index_type: str
    ) -> None:
        """Build a global index, by pypaimon."""
        self._ask("py_index", warehouse, table, column=column, index_type=index_type)

    def search(  # noqa: PLR0913 - keyword arguments
        self,
        warehouse: Path,
        table: str,
        queries: Mapping[str, object],
        limit: int,
        *,
        ranker: str | None = None,
        weights: Mapping[str, float] | None = None,
        conditions: Sequence[tuple[str, str, object]] = (),
        options: Mapping[str, str] | None = None,
    ) -> list[tuple[int, int, float]]:
        """Query, row id and score of what pypaimon finds, the best first.

        Args:
            warehouse: of the table.
            table: its name; if it has a primary key, the column `id` is in the place of row ids.
            queries: words, a vector or several vectors, by column.
            limit: maximum number of rows.
            ranker: combines the results of all columns; None for one column.
            weights: of the columns.
            conditions: all of them hold for the rows.
            options: dynamic options.
        """
        rows = self._rows(
            "py_search",
            warehouse,
            table,
            queries=dict(queries),
            limit=limit,
            ranker=ranker,
            weights=dict(weights or {}),
            conditions=[list(one) for one in conditions],
            options=dict(options or {}),
        ).to_pylist()
        found = [(int(row["query"]), int(row["row_id"]), float(row["score"])) for row in rows]
        return sorted(found, key=lambda one: (one[0], -one[2], one[1]))

    def names(self, warehouse: Path | Mapping[str, str], database: str = "") -> list[str]:
        """The databases of a catalog, or the tables of one of them, by pypaimon."""
        found = self._rows("py_names", warehouse, database).column("name").to_pylist()
        return [str(name) for name in found]

    def sql(self, warehouse: Path | Mapping[str, str], *statements: str) -> pa.Table:
        """The rows of the last statement, by Rust; the catalog is called `paimon`."""
        return self._rows("rust_sql", warehouse, "", statements=statements)

    def create(
        self,
        warehouse: Path | Mapping[str, str],
        table: str,
        schema: pa.Schema,
        *,
        partition_keys: Sequence[str] = (),
        primary_keys: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
    ) -> None:
        """A new table, made by pypaimon; Rust writes to such a one too."""
        self._send(
            "py_create",
            warehouse,
            table,
            schema.empty_table(),
            partition_keys=list(partition_keys),
            primary_keys=list(primary_keys),
            table_options=dict(options or {}),
        )

    def write(
        self,
        peer: Peer,
        warehouse: Path | Mapping[str, str],
        table: str,
        rows: pa.Table,
        overwrite: Mapping[str, object] | None = None,
    ) -> None:
        """One commit; `overwrite` names values of partition columns, or none of them."""
        self._send(f"{peer}_write", warehouse, table, rows, overwrite=overwrite)

    def delete(
        self,
        warehouse: Path | Mapping[str, str],
        table: str,
        *,
        row_ids: Sequence[int] | None = None,
        conditions: Sequence[tuple[str, str, object]] = (),
    ) -> None:
        """Rows deleted by pypaimon, by row id or by conditions."""
        asked = [list(one) for one in conditions]
        ids = None if row_ids is None else list(row_ids)
        self._ask("py_delete", warehouse, table, row_ids=ids, conditions=asked)

    def update(self, warehouse: Path | Mapping[str, str], table: str, rows: pa.Table) -> None:
        """New values of columns by `_ROW_ID`, by pypaimon."""
        self._send("py_update", warehouse, table, rows)

    def _rows(
        self, command: str, warehouse: Path | Mapping[str, str], table: str, **request: object
    ) -> pa.Table:
        path = self._path()
        self._ask(command, warehouse, table, rows=str(path), **request)
        with pa.OSFile(str(path), "rb") as file:
            found = pa.ipc.open_file(file).read_all()
        path.unlink()
        return found

    def _send(
        self,
        command: str,
        warehouse: Path | Mapping[str, str],
        table: str,
        rows: pa.Table,
        **request: object,
    ) -> None:
        path = self._path()
        with pa.ipc.new_file(str(path), rows.schema) as writer:
            writer.write_table(rows)
        self._ask(command, warehouse, table, rows=str(path), **request)
        path.unlink()

    def _path(self) -> Path:
        return self._scratch / f"rows-{next(self._numbers)}.arrow"

    def _ask(
        self, command: str, warehouse: Path | Mapping[str, str], table: str, **request: object
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        where = {"catalog": dict(warehouse)} if isinstance(warehouse, Mapping) else {}
        asked = {
            "command": command,
            "warehouse": str(warehouse),
            "table": table,
            **where,
            **request,
        }
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise PeerError(f"the peers ended: {self._log.read_text(encoding='utf-8')[-2000:]}")
        error = json.loads(line)["error"]
        if error is not None:
            raise PeerError(f"{command} of {table}: {error}")
