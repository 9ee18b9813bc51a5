"""SQL functions of VARIANT values; the results are those of Spark 4.3."""

from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.table.catalog.catalog import Catalog

V = """parse_json('{"a":{"b":[1,2]},"s":"12"}')"""


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    made = pe.Catalog(tmp_path)
    made.create_database("d")
    made.sql("USE d")
    return made


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (f"variant_set({V}, '$.a.b', 9)", '{"a":{"b":9},"s":"12"}'),
        (f"variant_set({V}, '$.a.b[0]', 't')", '{"a":{"b":["t",2]},"s":"12"}'),
        (f"variant_set({V}, '$.a.b[4]', 9)", '{"a":{"b":[1,2,null,null,9]},"s":"12"}'),
        (
            f"variant_set({V}, '$.x.y[1].z', 9)",
            '{"a":{"b":[1,2]},"s":"12","x":{"y":[null,{"z":9}]}}',
        ),
        (f"""variant_set({V}, '$.a', parse_json('[{{"k":1}}]'))""", '{"a":[{"k":1}],"s":"12"}'),
        (f"variant_set({V}, '$.q', 1.5D)", '{"a":{"b":[1,2]},"q":1.5,"s":"12"}'),
        (f"variant_set({V}, '$.q', DATE '2024-01-01', false)", '{"a":{"b":[1,2]},"s":"12"}'),
        (f"variant_set({V}, '$.a', 9, false)", '{"a":9,"s":"12"}'),
        (f"variant_set({V}, '$.a', NULL)", None),
        (f"variant_set({V}, NULL, 9)", None),
        ("variant_set(NULL, '$.a', 9)", None),
        (f"try_variant_set({V}, '$.s.y', 9)", None),
        (f"variant_delete({V}, '$.a.b[0]')", '{"a":{"b":[2]},"s":"12"}'),
        (f"variant_delete({V}, '$.a', NULL, '$.s')", "{}"),
        (f"variant_delete({V}, '$.zz')", '{"a":{"b":[1,2]},"s":"12"}'),
    ],
)
def test_variants_are_changed_as_by_spark(
    catalog: Catalog, call: str, expected: str | None
) -> None:
    assert catalog.sql(f"SELECT to_json({call}) AS v").to_arrow().to_pylist() == [{"v": expected}]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (f"variant_set({V}, '$.s.y', 9)", r"at \$\.s is not an object"),
        (f"variant_set({V}, '$.a[0]', 9)", r"at \$\.a is not an array"),
        ("variant_set(parse_json('null'), '$.a', 9)", r"at \$ is not an object"),
        (f"variant_set({V}, '$', 9)", "cannot be set"),
        (f"variant_set({V}, '$.b[-1]', 0)", "is not a path"),
        (f"variant_set({V}, '$[99999999999]', 0)", "is not a path"),
        (f"variant_delete({V}, '$')", "cannot be deleted"),
    ],
)
def test_changes_that_spark_refuses_are_errors(catalog: Catalog, call: str, problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        catalog.sql(f"SELECT {call}").to_arrow()


def test_rows_are_updated_and_merged_at_paths(catalog: Catalog) -> None:
    catalog.sql("CREATE TABLE t (id INT, v VARIANT) TBLPROPERTIES ('primary-key' = 'id')")
    catalog.sql(f"INSERT INTO t VALUES (1, {V}), (2, NULL), (3, CAST('x' AS VARIANT))")  # noqa: S608 - a constant
    catalog.sql("UPDATE t SET v = variant_set(v, '$.a.c', id + 1) WHERE v:a.b[0]::int = 1")
    catalog.sql("CREATE TABLE s AS SELECT id, v, variant_get(v, '$.a.c', 'bigint') c FROM t")
    catalog.sql(
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND s.c = 2 THEN "
        "UPDATE SET v = variant_set(t.v, '$.m', s.v)"
    )

    kinds = {field.name: type_text(field.type) for field in catalog.table("d.s").schema.fields}
    assert kinds == {"id": "INT", "v": "VARIANT", "c": "BIGINT"}
    rows = catalog.sql("SELECT id, CAST(v AS STRING) AS v FROM t ORDER BY id").to_arrow()
    inner = '{"a":{"b":[1,2],"c":2},"s":"12"}'
    assert rows.to_pylist() == [
        {"id": 1, "v": f'{{"a":{{"b":[1,2],"c":2}},"m":{inner},"s":"12"}}'},
        {"id": 2, "v": None},
        {"id": 3, "v": "x"},
    ]


def test_values_without_a_cast_are_refused_as_by_spark(catalog: Catalog) -> None:
    catalog.sql("CREATE TABLE t (v VARIANT)")
    for value in ("'{}'", "1", "array(1)"):
        with pytest.raises(InvalidInputError, match="without a cast"):
            catalog.sql(f"INSERT INTO t VALUES ({value})")  # noqa: S608 - constants
    catalog.sql("INSERT INTO t VALUES (NULL)")
    assert catalog.table("d.t").count() == 1


def test_conditions_and_new_values_of_python_call_the_functions(catalog: Catalog) -> None:
    table = catalog.create_table("d.t", {"id": "INT", "v": "VARIANT"})
    table.append([{"id": 1, "v": {"a": [1, "2"]}}, {"id": 2, "v": [1]}, {"id": 3}])

    assert table.scan(where="variant_get(v, '$.a[1]', 'INT') = 2").to_arrow()["id"].to_pylist() == [
        1
    ]
    assert table.count(where="variant_get(v, '$.a') IS NULL") == 2
    table.update({"v": "variant_set(v, '$.b', parse_json('[null]'))"}, where="id = 1")
    table.update({"v": {"new": 1}}, where="id = 2")
    table.update({"v": "parse_json('7')"}, where="id = 3")
    stored = table.to_arrow()["v"].to_pylist()
    texts = [str(pe.Variant(**row)) for row in stored if row is not None]
    assert sorted(texts) == ["7", '{"a":[1,"2"],"b":[null]}', '{"new":1}']
    with pytest.raises(InvalidInputError, match="is not an object"):
        table.update({"v": "variant_set(v, '$.b', 1)"})


def test_casts_of_moments_and_bytes(catalog: Catalog) -> None:
    query = """SELECT CAST(CAST(X'6162' AS VARIANT) AS STRING) AS b,
        CAST(CAST(DATE '2024-01-02' AS VARIANT) AS TIMESTAMP_NTZ) AS t,
        CAST(parse_json('"2024-01-02 03:04:05"') AS TIMESTAMP_NTZ) AS u,
        variant_get(parse_json('[1, "x", null]'), '$', 'array<variant>') AS l"""
    found = catalog.sql(query).to_arrow().to_pylist()[0]

    assert (found["b"], str(found["t"]), str(found["u"])) == (
        "ab",
        "2024-01-02 00:00:00",
        "2024-01-02 03:04:05",
    )
    assert [str(pe.Variant(**one)) for one in found["l"]] == ["1", '"x"', "null"]
    assert pa.types.is_list(catalog.sql(query).to_arrow()["l"].type)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        *(
            ("v -> '$.a.b'", "[1,2]"),
            ("v ->> 's'", "12"),
            ("v::JSON", '{"a":{"b":[1,2]},"s":"12"}'),
        ),
        *(("v -> '$.x'", None), ("'{\"k\":[7]}' -> '$.k[0]'", "7")),
    ],
)
def test_operators_of_json_read_the_document(
    catalog: Catalog, expression: str, expected: str | None
) -> None:
    catalog.sql(f"CREATE OR REPLACE TABLE t AS SELECT {V} AS v")
    rows = catalog.sql(f"SELECT {expression} AS x FROM t").to_arrow()  # noqa: S608 - constants
    assert rows["x"].to_pylist() == [expected]
