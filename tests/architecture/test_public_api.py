"""The names that users rely on; taking one away breaks them."""

import inspect
import sys
import typing
from collections.abc import Iterator
from types import FunctionType

import pytest

import paimon_explore as pe
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.system_tables.history_tables import SYSTEM_TABLES
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN
from paimon_explore.table.engine_scans.scan_part import ScanPart
from paimon_explore.table.maintenance import Maintenance
from paimon_explore.table.merge_builder import Merge
from paimon_explore.table.previews.what_if import WhatIf
from paimon_explore.table.references import ConsumerListing, Listing
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.scan import Scan
from paimon_explore.table.streams.change_batch import ChangeBatch
from paimon_explore.table.streams.change_stream import ChangeStream
from paimon_explore.table.table_inspection import TableInspection
from paimon_explore.table.trace_context import Tracing
from paimon_explore.table.transactions.transaction import Transaction
from support.public_interface import RECORD, interface_lines, public

PACKAGE = [
    *("Catalog", "PaimonError", "Table", "Variant", "col", "compare", "demo", "expr", "lit"),
    *("open_table", "sql", "trace"),
]
DOORS = ["errors", "inspect", "spark", "widgets"]
GROUPS = {"inspect": TableInspection, "maintenance": Maintenance, "what_if": WhatIf}
"""The properties of a table that group the rarer acts."""


def test_the_package_offers_these_names_and_doors() -> None:
    assert sorted(pe.__all__) == PACKAGE
    assert dir(pe) == sorted(["__version__", *PACKAGE, *DOORS])


def test_every_door_opens() -> None:
    for door in DOORS:
        assert getattr(pe, door).__name__.startswith("paimon_explore.")


def test_the_interface_is_the_recorded_one() -> None:
    recorded = RECORD.read_text(encoding="utf-8").splitlines()
    found = interface_lines()
    assert sorted(set(found) ^ set(recorded)) == [], (
        "The public interface has changed. Record it in tests: python -m support.public_interface"
    )


def test_tables_and_catalogs_are_small_to_learn() -> None:
    assert len(public(pe.Table)) <= 55
    assert len(public(pe.Catalog)) <= 35


def test_each_act_of_a_table_has_one_place() -> None:
    places: dict[str, list[str]] = {}
    for place, kind in {"table": pe.Table, **GROUPS}.items():
        for name in public(kind):
            places.setdefault(name, []).append(place)
    twice = {name: found for name, found in places.items() if len(found) > 1}
    system_tables = {name for name in twice if name in SYSTEM_TABLES}
    previews = {name for name, found in twice.items() if "what_if" in found}
    assert set(twice) - system_tables - previews == set()


ORDER = ("columns", "where", "limit")
"""The order of the arguments of a read that may be given by place."""
LAST = ("properties", "commit_user")
"""What every commit can be given, at the end and by name."""


def test_arguments_have_one_order_and_one_form() -> None:
    kinds = (pe.Catalog, *GROUPS.values(), pe.Table, Scan, Transaction)
    for name, one in (found for kind in kinds for found in functions_of(kind)):
        given = inspect.signature(one).parameters.values()
        by_place = [p.name for p in given if p.kind is not p.KEYWORD_ONLY and p.name in ORDER]
        assert by_place == [known for known in ORDER if known in by_place], name
        switches = [p for p in given if p.name == "dry_run" or isinstance(p.default, bool)]
        by_place = [p.name for p in switches if p.kind is not p.KEYWORD_ONLY]
        assert by_place == (["streaming"] if name == "Scan.to_torch" else []), (
            name
        )  # as in pypaimon
        defaults = {p.default for p in given if p.name in ORDER}
        assert defaults <= {None, NOT_GIVEN, inspect.Parameter.empty, 10}, name
        names = [p.name for p in given]
        assert "commit_user" not in names or tuple(names[-2:]) == LAST, name


def test_there_is_a_method_for_each_system_table_of_metadata() -> None:
    assert set(SYSTEM_TABLES) <= public(TableInspection)


def test_public_things_are_documented() -> None:
    for thing in (pe.Catalog, pe.Table, Scan, TableInspection):
        methods = {name for name in public(thing) if callable(getattr(thing, name))}
        assert [name for name in methods if not getattr(thing, name).__doc__] == []


def functions_of(kind: type) -> Iterator[tuple[str, FunctionType]]:
    """The public methods of a class, and the getters of its properties."""
    for name in sorted(public(kind)):
        found = inspect.getattr_static(kind, name)
        found = found.fget if isinstance(found, property) else found
        found = found.__func__ if isinstance(found, classmethod | staticmethod) else found
        if isinstance(found, FunctionType):
            yield f"{kind.__qualname__}.{name}", found


def package_functions() -> Iterator[tuple[str, FunctionType]]:
    """The functions of the package and of `pe.inspect`."""
    for module in (pe, pe.inspect):
        for name in module.__all__:
            found = getattr(module, name)
            if isinstance(found, FunctionType):
                yield f"{module.__name__}.{name}", found


WITH_EXAMPLES = (
    *(pe.Catalog, pe.Table, Scan, Maintenance, Merge, RowSource, Transaction, WhatIf),
    *(ChangeStream, ChangeBatch, ConsumerListing, ScanPart),
)
"""Classes whose methods each have an example in their docstring, which the tests run."""
TYPED = (*WITH_EXAMPLES, Listing, Tracing, TableInspection, Result, pe.PaimonError)


def test_every_public_method_has_an_example() -> None:
    methods = [
        (name, method)
        for kind in WITH_EXAMPLES
        for name, method in functions_of(kind)
        if not isinstance(inspect.getattr_static(kind, name.rpartition(".")[2]), property)
    ]
    walked = [*methods, *package_functions()]
    assert len(walked) > 120
    assert [name for name, one in walked if ">>> " not in (one.__doc__ or "")] == []


def test_the_types_of_every_public_function_are_found() -> None:
    walked = [*package_functions(), *(one for kind in TYPED for one in functions_of(kind))]
    hints = {name: typing.get_type_hints(one) for name, one in walked}
    assert len(hints) > 160
    assert [name for name, found in hints.items() if "return" not in found] == []
    assert hints["Table.health"]["return"].__name__ == "Health"
    assert hints["Table.to_pandas"]["return"].__name__ == "DataFrame"


def test_the_types_of_the_functions_for_spark_are_found() -> None:
    pytest.importorskip("pyspark")
    names = set(pe.spark.__all__)
    found = {name: typing.get_type_hints(getattr(pe.spark, name)) for name in names}
    assert found["read"]["return"].__name__ == "DataFrame"


def test_a_type_of_a_package_that_is_missing_is_any_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    assert typing.get_type_hints(Scan.to_polars)["return"] is typing.Any


VALUE_LINES = 5
REPORT_LINES = 25
WIDTH = 230


def shown_values(catalog: pe.Catalog) -> dict[str, object]:
    """What users see of a table: every kind of object that a public method returns."""
    t = catalog.table("demo.parcels")
    plan = t.scan(["id"], "id > 3", 5).plan()
    merge = t.merge([{"dt": None, "id": 1}], on="id").when_matched_delete("source.id > 3")
    values = {
        "catalog": catalog,
        "table": t,
        "view": t.at(snapshot=5),
        "scan": t.scan(["id"], "id > 3", 5),
        "plan": plan,
        "split": plan.splits[0],
        "snapshot": t.snapshot,
        "schema": t.schema,
        "options": t.options,
        "tag": t.tags["weighed"],
        "consumer": t.maintenance.consumers["labels"],
        "snapshots": t.snapshots,
        "schemas": t.schemas,
        "tags": t.tags,
        "branches": t.branches,
        "consumers": t.maintenance.consumers,
        "maintenance": t.maintenance,
        "retention": t.maintenance.snapshot_retention(),
        "inspect": t.inspect,
        "merge": merge,
        "rows": t.inspect.system_table("files"),
        "between": t.between(1, 2),
        "change": next(t.changes()),
        "term": pe.col("a").is_null() | (pe.col("b") > 3),
        "literal": pe.lit("text"),
        "expression": pe.expr("upper(a)"),
        "trace": pe.trace(t),
        "findings": t.maintenance.fsck(),
        "orphans": t.maintenance.remove_orphan_files(),
        "expired": t.maintenance.expire_snapshots(retain_max=5),
        "removal": t.delete_tag("weighed"),
    }
    return dict(values)


def test_every_public_value_prints_in_one_to_five_lines() -> None:
    texts = {name: repr(value) for name, value in shown_values(pe.demo()).items()}
    sizes = {name: len(text.splitlines()) for name, text in texts.items()}
    assert {name: size for name, size in sizes.items() if not 1 <= size <= VALUE_LINES} == {}
    widths = {name: max(map(len, text.splitlines())) for name, text in texts.items()}
    assert {name: width for name, width in widths.items() if width > WIDTH} == {}
    assert [name for name, text in texts.items() if " object at 0x" in text] == []


def test_every_report_about_a_table_prints_in_a_screen() -> None:
    t = pe.demo().table("demo.parcels")
    name = t.files().to_arrow()["file_name"][0].as_py()
    reports = [
        *(
            t.explain("id > 3"),
            t.health(),
            t.diff(),
            t.inspect.lsm(),
            t.inspect.heat(),
            t.inspect.tree(),
            t.inspect.node(),
        ),
        *(
            t.rows(),
            t.rows(merged=False),
            t.inspect.timeline(),
            t.files(),
            t.partitions(),
            t.inspect.bytes(),
            t.inspect.replay(),
            t.inspect.why(name),
        ),
        *(
            t.inspect.file(name),
            t.history({"dt": "2026-01-01", "id": 2}),
            t.inspect.schema_history(),
        ),
        *(t.what_if.expire_snapshots(retain_max=2), t.profile(), t.profile(exact=True)),
        *(t.what_if.compact(), pe.compare(t)),
        t.what_if.options({"num-levels": 4}),
        t.inspect.overview(),
    ]
    sizes = {type(report).__name__: len(repr(report).splitlines()) for report in reports}
    assert {name: size for name, size in sizes.items() if not 1 <= size <= REPORT_LINES} == {}
