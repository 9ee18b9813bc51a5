"""Names, values and messages of a table cannot control the terminal that they are printed on.

Every character that is obeyed, invisible or reorders others is put into every name of a table and
every fact of an error; then everything that is printed is searched for it. HTML is searched for
markup from names, too.
"""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

import paimon_explore as pe
from paimon_explore import errors
from paimon_explore.__main__ import main
from paimon_explore.errors import PaimonError
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.sanitize import visible, visible_lines
from paimon_explore.table.table import Table
from support.displayed import displayed
from support.small_tables import new_catalog

UNSEEN = {
    **{f"control {code:02x}": chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))},
    **{
        f"U+{code:04X}": chr(code)
        for code in (
            *(0xAD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFEFF, 0xFFA0),
            *range(0x200B, 0x2010),
            *range(0x2028, 0x202F),
            *range(0x2060, 0x2070),
            *(0xFFF9, 0xFFFA, 0xFFFB, 0xD800, 0xDFFF, 0x1D173, 0xE0001, 0xE0041, 0xE0100),
        )
    },
}
MARKUP = "<img src=x>"
HOSTILE = f"a{MARKUP}\x1b[31m\x1b]0;title\x07\r\x9b2J\x7f\u202eb\u2066\u200b\u2028c"
PRINTED = ("repr of", "str of", "HTML of", "figure of", "error")


def obeyed(text: str, *, lines: bool = True) -> list[str]:
    """The characters of a text that a terminal would obey or hide; line ends may be allowed."""
    allowed = "\n" if lines else ""
    return [char for char in text if visible(char) != char and char not in allowed]


@pytest.mark.parametrize("char", UNSEEN.values(), ids=UNSEEN)
def test_a_character_that_is_not_seen_becomes_an_escape(char: str) -> None:
    assert visible(f"a{char}b").isascii()
    assert visible_lines(f"a{char}b\nc").endswith("\nc")


def test_escapes_tell_which_character_it_is() -> None:
    assert visible("a\u202egnp\x00\x1b[31m\n\ufeff") == "a\\u{202e}gnp\\x00\\x1b[31m\\n\\u{feff}"
    assert visible("\U000e0041") == "\\u{e0041}"


def test_other_scripts_stay_as_they_are() -> None:
    for text in ("中文 São 😀", "ðæ עברית العربية", "a\u00a0b\u3000c", "кириллица ไทย"):
        assert visible(text) == text


ERRORS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]


@pytest.mark.parametrize("kind", [kind for kind in ERRORS if issubclass(kind, PaimonError)])
def test_no_fact_of_an_error_reaches_the_terminal_raw(kind: type[PaimonError]) -> None:
    given: dict[str, object] = {}
    for name, parameter in inspect.signature(kind).parameters.items():
        annotation = str(parameter.annotation)
        given[name] = (
            [HOSTILE] if "Iterable" in annotation else 5 if "int" in annotation else HOSTILE
        )
    error = kind(**given)  # type: ignore[arg-type]  # whatever it takes
    for text in (str(error), repr(error), error.message, error.hint, *map(str, error.args)):
        assert obeyed(text, lines=False) == []
    assert "\\x1b[31m" in str(error)


@pytest.fixture(scope="module")
def catalog() -> pe.Catalog:
    """A warehouse with a table full of hostile names."""
    return new_catalog()


@pytest.fixture(scope="module")
def table(catalog: pe.Catalog) -> Table:
    """Hostile names of everything that a table may have."""
    columns = {
        f"id{HOSTILE}": "INT",
        f"dt{HOSTILE}": "STRING",
        f"row{HOSTILE}": f"ROW<`m{HOSTILE}` INT COMMENT '{HOSTILE}'>",
    }
    made = catalog.create_table(
        f"db.t{HOSTILE}",
        columns,
        primary_key=[f"id{HOSTILE}", f"dt{HOSTILE}"],
        partition_by=[f"dt{HOSTILE}"],
        options={f"my.{HOSTILE}": HOSTILE, "commit.user-prefix": f"u{HOSTILE}", "bucket": 1},
        comment=HOSTILE,
    )
    row = {f"id{HOSTILE}": 1, f"dt{HOSTILE}": f"p{HOSTILE}", f"row{HOSTILE}": None}
    made.upsert([row])
    made.set_options({f"other.{HOSTILE}": HOSTILE})
    made.upsert([{**row, f"id{HOSTILE}": 2}])
    made.create_tag(f"good{HOSTILE}")
    made._store.consumers.save(f"reader{HOSTILE}", Consumer(next_snapshot=1))
    return made


def test_nothing_that_is_printed_of_a_table_is_obeyed_or_taken_for_markup(
    table: Table, catalog: pe.Catalog, tmp_path: Path
) -> None:
    count = 0
    for what, text in displayed(table, catalog, tmp_path):
        if what.startswith(PRINTED) or what.endswith("error"):
            assert (what, obeyed(text)) == (what, [])
            count += 1
        if what.startswith("HTML of"):
            assert MARKUP not in text, what
    assert count > 90


ASKS: Mapping[str, Callable[[Table], object]] = MappingProxyType(
    {
        "where": lambda t: t.scan(where=HOSTILE),
        "where with a value": lambda t: t.scan(where=f"`id{HOSTILE}` = '{HOSTILE}'").to_arrow(),
        "columns": lambda t: t.scan(columns=[HOSTILE]),
        "tag": lambda t: t.at(tag=HOSTILE),
        "time": lambda t: t.at(timestamp=HOSTILE),
        "branch": lambda t: pe.open_table(t.path, branch=HOSTILE),
        "option": lambda t: pe.open_table(t.path, options={"scan.mode": HOSTILE}),
        "location": lambda _: pe.open_table(f"{HOSTILE}://x"),
        "path": lambda t: pe.open_table(f"{t.path}{HOSTILE}"),
        "system table": lambda t: t.inspect.system_table(HOSTILE),
        "new tag": lambda t: t.create_tag(f"{HOSTILE}/x"),
        "deleted tag": lambda t: t.delete_tag(HOSTILE),
        "deleted branch": lambda t: t.delete_branch(HOSTILE),
        "dropped column": lambda t: t.drop_column(HOSTILE),
        "type": lambda t: t.add_column("x", HOSTILE),
        "rows": lambda t: t.upsert([{HOSTILE: 1}]),
        "value": lambda t: t.upsert([{f"id{HOSTILE}": HOSTILE, f"dt{HOSTILE}": "d"}]),
        "update": lambda t: t.update({HOSTILE: 1}),
        "overwrite": lambda t: t.overwrite([], partition={HOSTILE: HOSTILE}),
        "file": lambda t: t.inspect.file(HOSTILE),
        "node": lambda t: t.inspect.node(HOSTILE),
        "bytes": lambda t: t.inspect.bytes(HOSTILE),
        "files": lambda t: t.files(f"file = {HOSTILE}"),
        "why": lambda t: t.inspect.why(HOSTILE),
        "history": lambda t: t.history(HOSTILE),
        "lsm": lambda t: t.inspect.lsm(HOSTILE),
        "replay": lambda t: t.inspect.replay(scenario=HOSTILE),
        "between": lambda t: t.between(HOSTILE, HOSTILE),
        "database": lambda _: new_catalog().tables(HOSTILE),
        "new database": lambda _: new_catalog().create_database(f"a.{HOSTILE}"),
        "table": lambda _: new_catalog().table(f"db.{HOSTILE}"),
    }
)


@pytest.mark.parametrize("name", ASKS)
def test_an_argument_that_is_wrong_is_told_without_control_characters(
    name: str, table: Table
) -> None:
    with pytest.raises(PaimonError) as raised:
        ASKS[name](table)
    assert obeyed(f"{raised.value}{raised.value!r}") == []


def test_the_command_line_prints_no_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = HOSTILE.replace("/", "")
    catalog = pe.Catalog(tmp_path / f"wh{hostile}")
    catalog.create_database(f"db{hostile}")
    made = catalog.create_table(f"db{hostile}.t{hostile}", {f"a{hostile}": "INT"})
    made.append([{f"a{hostile}": 1}])
    made.create_tag(f"x{hostile}")
    (Path(made.path) / "tag" / f"tag-bad{hostile}").write_text(hostile)
    database = f"{catalog.warehouse}/db{hostile}.db"
    codes = [
        main(["show", catalog.warehouse]),
        main(["show", database]),
        main(["show", made.path]),
        main(["show", made.path, "--tag", f"none{hostile}"]),
        main(["show", made.path, "--branch", hostile]),
        main(["show", f"{database}/none{hostile}"]),
    ]
    assert codes == [0, 0, 0, 1, 1, 1]
    told = capsys.readouterr()
    assert obeyed(told.out) == []
    assert obeyed(told.err) == []
    assert "\\x1b[31m" in told.out
