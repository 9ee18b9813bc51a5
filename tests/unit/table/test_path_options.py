"""Options that become part of a path never lead out of the table."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from paimon_explore import Catalog, Table, open_table
from paimon_explore.errors import CorruptFileError, InvalidInputError, PaimonError
from paimon_explore.metadata.path_safety import is_name_part
from paimon_explore.write.file_layout import FileLayout
from paimon_explore.write.new_file_names import FileNames
from support.acts import ACTS, NEWEST, names_of, row
from support.depth import some
from support.small_tables import new_catalog
from support.table_kinds import PARTITIONS, TABLE_KINDS

PARTS = ["a/b", "../x", "/abs", "..", ".", ".hidden", "a\\b", "a\0b", "a\nb", "a\x1bb", "file:x"]
NAMES = ["a/b", "../x", "/abs", "..", ".", "", "a\\b", "a\0b"]
FOLDERS = ["../x", "a/../../x", "/abs", ".", "a/.", "a\\b", "a\0b", "snapshot", "manifest/x"]
REFUSED: list[tuple[str, str]] = [
    *[("data-file.prefix", text) for text in PARTS],
    *[("changelog-file.prefix", text) for text in PARTS],
    *[("file.compression", text) for text in PARTS],
    *[("changelog-file.compression", text) for text in PARTS],
    ("file.compression.per.level", "0:../x"),
    *[("data-file.path-directory", text) for text in FOLDERS],
    *[("partition.default-name", text) for text in ("", " ", "\t")],
    *[
        (key, text)
        for key in (
            "branch",
            "scan.fallback-branch",
            "scan.primary-branch",
            "scan.fallback-snapshot-branch",
            "scan.fallback-delta-branch",
            "scan.tag-name",
            "tag.batch.customized-name",
            "consumer-id",
        )
        for text in NAMES
    ],
]
DOORS: Mapping[str, Callable[[Catalog, Table, dict[str, str]], object]] = {
    "create": lambda catalog, _, options: catalog.create_table(
        "db.new", {"p": "STRING", "k": "INT"}, partition_by="p", options=options
    ),
    "set": lambda _, table, options: table.set_options(options),
    "open": lambda _, table, options: open_table(table.path, options=options),
    "catalog": lambda catalog, _, options: catalog.table("db.t", options),
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> tuple[Catalog, Table]:
    warehouse = str(tmp_path_factory.mktemp("w"))
    return Catalog(warehouse), TABLE_KINDS["append"].create(warehouse)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("key", "text"), REFUSED)
def test_an_option_that_leads_elsewhere_is_refused_when_it_is_set(
    opened: tuple[Catalog, Table], door: str, key: str, text: str
) -> None:
    catalog, table = opened
    before = files_below(Path(catalog.warehouse))
    with pytest.raises(InvalidInputError, match=key):
        DOORS[door](catalog, table, {key: text})
    assert files_below(Path(catalog.warehouse)) == before


@pytest.mark.parametrize(
    "options",
    [
        {"data-file.prefix": "", "changelog-file.prefix": ""},
        {"data-file.prefix": "part 1_é-", "changelog-file.prefix": "part 1_é-"},
        {"data-file.path-directory": "data/of table"},
        {"data-file.path-directory": ""},
        {"commit.user-prefix": "team/a"},
        {"partition.default-name": ".."},
    ],
)
def test_other_names_are_written_and_read(tmp_path: Path, options: dict[str, str]) -> None:
    options = {"bucket": "1", "changelog-producer": "input", **options}
    table = new_catalog(tmp_path).create_table(
        "db.t", {"p": "STRING", "k": "INT"}, primary_key="k", partition_by=(), options=options
    )
    table.upsert([{"p": "a", "k": 1}, {"p": None, "k": 2}])
    opened_again = open_table(table.path)
    assert opened_again.to_arrow().sort_by("k").to_pylist() == [
        {"p": "a", "k": 1},
        {"p": None, "k": 2},
    ]
    assert opened_again.maintenance.fsck() == []


def test_a_partition_of_nulls_stays_in_the_table_whatever_its_name(tmp_path: Path) -> None:
    options = {"partition.default-name": "../.."}
    table = new_catalog(tmp_path).create_table(
        "db.t", {"p": "STRING", "k": "INT"}, partition_by="p", options=options
    )
    table.append([{"p": None, "k": 1}])
    assert table.to_arrow().to_pylist() == [{"p": None, "k": 1}]
    assert [path.name for path in Path(table.path).iterdir() if "=" in path.name] == ["p=..%2F.."]


WRITING = list(
    names_of(("insert", "delete,", "delete rows", "update rows", "compact,", "overwrite", "spread"))
)


@pytest.mark.parametrize("act", some(WRITING, 4))
def test_every_write_refuses_a_schema_of_somebody_else_that_leads_elsewhere(
    tmp_path: Path, act: str
) -> None:
    table = ACTS[act].table(str(tmp_path / "w"))
    put_options(table, {"data-file.prefix": "../../../../out/x"})
    before = files_below(tmp_path)
    with pytest.raises(CorruptFileError, match=r"schema-1, options: 'data-file.prefix' ="):
        ACTS[act].run(table)
    assert files_below(tmp_path) == before


HOSTILE: list[dict[str, str]] = [
    {"changelog-file.prefix": "../../../../out/x"},
    {"file.compression": "../../../../out/x", "file.suffix.include.compression": "true"},
    {"file.compression.per.level": "0:../../x", "file.suffix.include.compression": "true"},
    {"changelog-file.compression": "../../x", "file.suffix.include.compression": "true"},
    {"data-file.path-directory": "snapshot"},
    {"partition.default-name": ""},
]


@pytest.mark.parametrize("kind", ["append", "keyed", "input", "lookup", "postponed buckets"])
@pytest.mark.parametrize("options", HOSTILE, ids=str)
def test_nothing_is_written_under_any_such_schema(
    tmp_path: Path, kind: str, options: dict[str, str]
) -> None:
    table = TABLE_KINDS[kind].create(str(tmp_path / "w"))
    put_options(table, options)
    before = files_below(tmp_path)
    write = table.append if TABLE_KINDS[kind].merge is None else table.upsert
    runs: list[Callable[[], object]] = [
        lambda: write(NEWEST),
        lambda: table.overwrite(NEWEST),
        lambda: open_table(table.path).append([row(PARTITIONS[0], 1, 1)]),
    ]
    for run in runs:
        with pytest.raises(CorruptFileError, match=next(iter(options))):
            run()
    assert files_below(tmp_path) == before


def test_a_commit_user_that_leads_elsewhere_is_refused_where_files_are_named_by_it(
    tmp_path: Path,
) -> None:
    table = TABLE_KINDS["postponed buckets"].create(str(tmp_path / "w"))
    with pytest.raises(InvalidInputError, match=r"commit\.user-prefix"):
        table.set_options({"commit.user-prefix": "../../x"})
    put_options(table, {"commit.user-prefix": "../../x"})
    with pytest.raises(CorruptFileError, match=r"commit\.user-prefix"):
        table.upsert(NEWEST)


@pytest.mark.parametrize("folder", FOLDERS[:7])
def test_a_data_folder_outside_of_the_table_is_refused_when_the_table_is_opened(
    tmp_path: Path, folder: str
) -> None:
    table = TABLE_KINDS["append"].create(str(tmp_path / "w"))
    put_options(table, {"data-file.path-directory": folder})
    with pytest.raises(CorruptFileError, match=r"data-file\.path-directory"):
        open_table(table.path)


def test_such_a_table_is_mended_by_setting_the_option(tmp_path: Path) -> None:
    table = TABLE_KINDS["append"].create(str(tmp_path / "w"))
    put_options(table, {"data-file.prefix": "a/b"})
    table.set_options({"data-file.prefix": "a-b-"})
    table.append(NEWEST)
    assert table.to_arrow().num_rows == len(NEWEST)


@pytest.mark.parametrize("prefix", ["../", "a/", "\\", "\0"])
def test_no_name_of_a_new_file_leads_elsewhere(prefix: str) -> None:
    layout = FileLayout(
        format="parquet",
        compression="zstd",
        prefix=prefix,
        schema_id=0,
        fields=(),
        value_columns=(),
        value_modes=(),
        target_bytes=1,
    )
    with pytest.raises(PaimonError, match="cannot be the name of a data file"):
        FileNames().next(layout)
    with pytest.raises(PaimonError, match="cannot be the name of a data file"):
        FileNames(unique=f"{prefix}x").next(layout)


def test_parts_of_names_are_printable_and_hold_no_separator() -> None:
    assert [is_name_part(text) for text in ("data-", "", "a b", "é", "_x", "a.b")] == [True] * 6
    assert [text for text in PARTS if is_name_part(text)] == []


def put_options(table: Table, options: Mapping[str, str]) -> None:
    """A new schema with more options, written past all checks."""
    folder = Path(table.path) / "schema"
    last = max(int(path.name.removeprefix("schema-")) for path in folder.glob("schema-*"))
    schema = json.loads((folder / f"schema-{last}").read_text())
    schema["id"] = last + 1
    schema["options"] |= options
    (folder / f"schema-{last + 1}").write_text(json.dumps(schema))


def files_below(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}
