"""Properties and user of commits: every write stores them, and readers find them."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import InvalidInputError
from support.small_tables import append_table, columns, keyed_table

COLUMNS = columns(p=pa.string(), k=pa.int32(), v=pa.int32())
ROWS = [{"p": "a", "k": k, "v": k} for k in range(4)]
GIVEN: Mapping[str, str] = {"job": "nightly", "run": "7"}
Write = Callable[[Table, dict[str, Any]], object]

WRITES: Mapping[str, Write] = {
    "append": lambda t, note: t.append(ROWS, **note),
    "append, merge_schema": lambda t, note: t.append([{"x": 1}], merge_schema=True, **note),
    "delete": lambda t, note: t.delete("k = 1", **note),
    "update": lambda t, note: t.update({"v": 0}, "k = 1", **note),
    "merge": lambda t, note: (
        t.merge([{"k": 1, "v": 9}], on="k", **note).when_matched_update_all().execute()
    ),
    "overwrite": lambda t, note: t.overwrite(ROWS, **note),
    "overwrite, merge_schema": lambda t, note: t.overwrite(
        [{"p": "a", "x": 1}], merge_schema=True, **note
    ),
    "truncate": lambda t, note: t.truncate(**note),
    "drop_partitions": lambda t, note: t.drop_partitions({"p": "a"}, **note),
    "compact": lambda t, note: t.compact(**note),
    "compact by order": lambda t, note: t.compact(strategy="order", columns="v", **note),
}


def table() -> Table:
    options = {"compaction.min.file-num": "2"}
    return append_table(COLUMNS, ROWS, ROWS, ROWS, partition_by=["p"], options=options)


def check(written: Table) -> None:
    snapshot = written.snapshot
    assert snapshot is not None
    assert snapshot.id > 1
    assert snapshot.properties == GIVEN
    assert snapshot.commit_user == "etl"
    last = written.inspect.snapshots().to_pylist()[-1]
    assert last["commit_user"] == "etl"
    assert written.inspect.timeline().to_arrow()["properties"].to_pylist()[-1] == list(
        GIVEN.items()
    )


@pytest.mark.parametrize("name", WRITES)
def test_every_write_stores_its_properties_and_user(name: str) -> None:
    written = table()
    WRITES[name](written, {"properties": GIVEN, "commit_user": "etl"})
    check(written)


def test_an_upsert_and_its_compaction_have_the_same_user() -> None:
    written = keyed_table(
        COLUMNS, ROWS, primary_key=["k"], options={"deletion-vectors.enabled": "true"}
    )
    written.set_options({"write-only": "false"})
    written.upsert(ROWS, properties=GIVEN, commit_user="etl")
    append, compaction = list(written.snapshots)[-2:]
    assert (append.properties, append.commit_user) == (GIVEN, "etl")
    assert (compaction.commit_kind.value, compaction.commit_user) == ("COMPACT", "etl")


@pytest.mark.parametrize("name", WRITES)
def test_a_write_without_them_stores_no_properties(name: str) -> None:
    written = table()
    WRITES[name](written, {})
    assert written.snapshot is not None
    assert written.snapshot.properties is None


WRONG: list[tuple[Mapping[str, object], str]] = [
    ({"properties": {"run": 7}}, "Property 'run' must be a text, not 7"),
    ({"properties": {1: "a"}}, "A key of properties must be a str"),
    ({"properties": {"": "a"}}, "A key of properties must be a text that is not empty"),
    ({"properties": ["a"]}, "properties must be"),
    ({"commit_user": ""}, "commit_user must be a text that is not empty"),
    ({"commit_user": 7}, "commit_user must be"),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_wrong_properties_are_refused_before_anything_is_written(
    given: Mapping[str, object], message: str
) -> None:
    written = table()
    files = {status.path for status in written._store.file_io.walk(written.path)}
    with pytest.raises(InvalidInputError, match=message):
        WRITES["append"](written, dict(given))
    assert {status.path for status in written._store.file_io.walk(written.path)} == files
