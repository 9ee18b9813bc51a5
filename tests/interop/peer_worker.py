"""Answers requests with pypaimon and pypaimon-rust, in an environment of their own.

Started by `peers.Peers`. A request is one line of JSON on standard input, an answer one line on
standard output; rows go through Arrow files. What the implementations print goes to standard error.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from pypaimon import CatalogFactory, Schema
from pypaimon.globalindex.create_global_index import create_global_index
from pypaimon_rust.datafusion import PaimonCatalog, SQLContext

Request = Mapping[str, Any]


def _load(path: str) -> pa.Table:
    with pa.ipc.open_file(path) as reader:
        rows = reader.read_all()
    # a copy: values in a file are aligned to 8 bytes, the libraries of vortex and mosaic need 16
    return pa.concat_tables([rows, rows.slice(0, 0)]).combine_chunks()


def _store(path: str, table: pa.Table) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


def _py_catalog(request: Request) -> Any:  # noqa: ANN401 - a pypaimon catalog, without types
    options = request.get("catalog") or {"warehouse": request["warehouse"]}
    return CatalogFactory.create(options)


def _py_table(request: Request) -> Any:  # noqa: ANN401 - a pypaimon table, which has no types
    catalog = _py_catalog(request)
    table = catalog.get_table(request["table"])
    options = request.get("options")
    return table.copy(options) if options else table


def _rust_table(request: Request) -> Any:  # noqa: ANN401 - a table of the Rust extension
    options = request.get("catalog") or {"warehouse": request["warehouse"]}
    return PaimonCatalog(options).get_table(request["table"])


def py_read(request: Request) -> None:
    """Rows of a table, by pypaimon."""
    builder = _py_table(request).new_read_builder()
    splits = builder.new_scan().plan().splits()
    _store(request["rows"], builder.new_read().to_arrow(splits))


def py_system(request: Request) -> None:
    """Rows of a system table, by pypaimon."""
    py_read({**request, "table": f"{request['table']}${request['name']}"})


def py_explain(request: Request) -> None:
    """The counts of pypaimon's `explain()`, as a row of numbers."""
    builder = _py_table(request).new_read_builder()
    predicates = builder.new_predicate_builder()
    parts = [getattr(predicates, sign)(name, value) for name, sign, value in request["conditions"]]
    if parts:
        builder = builder.with_filter(predicates.and_predicates(parts))
    told = builder.explain()
    names = ("file_count", "total_file_size", "estimated_row_count", "split_count")
    counts = {name: getattr(told, name) for name in (*names, "splits_raw_convertible")}
    stages = {"partition": told.partition_pruning, "bucket": told.bucket_pruning}
    for name, stage in {**stages, "stats": told.file_skipping}.items():
        counts[f"{name}_before"] = None if stage is None else stage.before
        counts[f"{name}_after"] = None if stage is None else stage.after
    _store(
        request["rows"], pa.table({name: pa.array([n], pa.int64()) for name, n in counts.items()})
    )


def py_index(request: Request) -> None:
    """Build a global index, by pypaimon."""
    create_global_index(_py_table(request), request["column"], request["index_type"])


def py_search(request: Request) -> None:
    """The rows that searches find, by pypaimon: their number, score and query.

    A row is numbered by its row id, or by the column `id` of a table with a primary key.
    """
    table = _py_table(request)
    found = _py_results(table, request)
    rows = [(query, *one) for query, each in enumerate(found) for one in _py_scores(table, each)]
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    names, types = ("query", "row_id", "score"), (pa.int64(), pa.int64(), pa.float64())
    parts = zip(names, columns, types, strict=True)
    _store(request["rows"], pa.table({name: pa.array(own, kind) for name, own, kind in parts}))


def _py_results(table: Any, request: Request) -> list[Any]:  # noqa: ANN401 - pypaimon has no types
    asked, limit = request["queries"], request["limit"]
    if request["ranker"] is not None:
        builder = table.new_hybrid_search_builder().with_ranker(request["ranker"])
        for column, query in asked.items():
            weight = request["weights"].get(column, 1.0)
            if isinstance(query, str):
                builder.add_full_text_route(column, _match(query), limit, weight)
            else:
                builder.add_vector_route(column, query, limit, weight)
    else:
        ((column, query),) = asked.items()
        if isinstance(query, str):
            builder = table.new_full_text_search_builder().with_query(column, _match(query))
        elif isinstance(query[0], list):
            builder = table.new_batch_vector_search_builder().with_vector_column(column)
            builder = builder.with_query_vectors(query)
        else:
            builder = table.new_vector_search_builder().with_vector_column(column)
            builder = builder.with_query_vector(query)
    predicates = table.new_read_builder().new_predicate_builder()
    parts = [getattr(predicates, sign)(name, value) for name, sign, value in request["conditions"]]
    builder = builder.with_limit(limit)
    if parts:
        builder = builder.with_filter(predicates.and_predicates(parts))
    if hasattr(builder, "execute_batch_local"):
        return list(builder.execute_batch_local())
    return [builder.execute_local()]


def _match(words: str) -> str:
    return json.dumps({"match": {"query": words}})


def _py_scores(table: Any, found: Any) -> list[tuple[int, float]]:  # noqa: ANN401 - likewise
    if hasattr(found, "score_getter"):
        return [(row, float(found.score_getter()(row))) for row in found.results()]
    if not hasattr(found, "splits"):
        return []
    reader = table.new_read_builder().with_projection(["id"]).new_read()
    rows: list[tuple[int, float]] = []
    for split in found.splits:
        ids = reader.to_arrow([split]).column(0).to_pylist()
        rows += zip(ids, map(float, split.scores()), strict=True)
    return rows


def rust_read(request: Request) -> None:
    """Rows of a table, by pypaimon-rust."""
    options = request.get("options") or None
    builder = _rust_table(request).new_read_builder(options)
    splits = builder.new_scan().plan().splits()
    batches = list(builder.new_read().read_arrow(splits))
    _store(request["rows"], pa.Table.from_batches(batches) if batches else pa.table({}))


def rust_sql(request: Request) -> None:
    """The rows of the last of some statements, by pypaimon-rust; the catalog is called `paimon`."""
    context = SQLContext()
    context.register_catalog("paimon", {"warehouse": request["warehouse"]})
    batches: list[pa.RecordBatch] = []
    for statement in request["statements"]:
        batches = context.sql(statement)
    _store(request["rows"], pa.Table.from_batches(batches) if batches else pa.table({}))


def py_create(request: Request) -> None:
    """A new table, by pypaimon; its database is made if need be."""
    catalog = _py_catalog(request)
    catalog.create_database(request["table"].split(".")[0], ignore_if_exists=True)
    schema = Schema.from_pyarrow_schema(
        _load(request["rows"]).schema,
        partition_keys=request["partition_keys"],
        primary_keys=request["primary_keys"],
        options=request["table_options"],
    )
    catalog.create_table(request["table"], schema, ignore_if_exists=False)


def py_names(request: Request) -> None:
    """The databases of a catalog, or the tables of the database that `table` names."""
    catalog = _py_catalog(request)
    database = request["table"]
    names = catalog.list_tables(database) if database else catalog.list_databases()
    _store(request["rows"], pa.table({"name": pa.array(sorted(names), pa.string())}))


def py_write(request: Request) -> None:
    """One commit, by pypaimon."""
    builder = _py_table(request).new_batch_write_builder()
    if request["overwrite"] is not None:
        builder = builder.overwrite(request["overwrite"])
    write, commit = builder.new_write(), builder.new_commit()
    write.write_arrow(_load(request["rows"]))
    commit.commit(write.prepare_commit())
    write.close()
    commit.close()


def py_delete(request: Request) -> None:
    """Rows deleted by row id, or by the conditions that all hold for them; by pypaimon."""
    builder = _py_table(request).new_batch_write_builder()
    update = builder.new_update()
    if request["row_ids"] is not None:
        messages = update.delete_by_row_id(request["row_ids"])
    else:
        predicates = update.new_predicate_builder()
        parts = [getattr(predicates, sign)(n, value) for n, sign, value in request["conditions"]]
        messages = update.delete_by_predicate(predicates.and_predicates(parts))
    _py_commit(builder, messages)


def py_update(request: Request) -> None:
    """New values of columns by row id, by pypaimon."""
    rows = _load(request["rows"])
    builder = _py_table(request).new_batch_write_builder()
    names = [name for name in rows.schema.names if name != "_ROW_ID"]
    update = builder.new_update().with_update_type(names)
    _py_commit(builder, update.update_by_arrow_with_row_id(rows))


def _py_commit(builder: Any, messages: Any) -> None:  # noqa: ANN401 - pypaimon has no types
    commit = builder.new_commit()
    commit.commit(messages)
    commit.close()


def rust_write(request: Request) -> None:
    """One commit, by pypaimon-rust."""
    builder = _rust_table(request).new_batch_write_builder()
    if request["overwrite"] is not None:
        builder = builder.with_overwrite(request["overwrite"])
    write, commit = builder.new_write(), builder.new_commit()
    for batch in _load(request["rows"]).to_batches():
        write.write_arrow(batch)
    commit.commit(write.prepare_commit())
    write.close()
    commit.close()


_COMMANDS: Mapping[str, Callable[[Request], None]] = {
    "py_create": py_create,
    "py_delete": py_delete,
    "py_explain": py_explain,
    "py_index": py_index,
    "py_names": py_names,
    "py_read": py_read,
    "py_search": py_search,
    "py_system": py_system,
    "py_update": py_update,
    "py_write": py_write,
    "rust_read": rust_read,
    "rust_sql": rust_sql,
    "rust_write": rust_write,
}


def main() -> None:
    """Answer until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            _COMMANDS[request["command"]](request)
            error = None
        except BaseException as caught:  # noqa: BLE001 - a panic of Rust is no Exception
            error = f"{type(caught).__name__}: {caught}"
        answers.write(json.dumps({"error": error}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
