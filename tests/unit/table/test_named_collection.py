import pyarrow as pa
import pytest

from paimon_explore.errors import NotFoundError
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.table.references import Listing, local_time
from support.small_tables import append_table, columns

COLUMNS = columns(id=pa.int32())


def numbers(count: int) -> Listing[int, str]:
    return Listing(
        kind="numbers",
        item_type=str,
        keys=lambda: list(range(count)),
        load=lambda key: f"n{key}",
        line=lambda key, value: f"{key} {value}",
        file_io=LocalFileIO(),
    )


def test_a_listing_is_looked_up_by_key_and_gone_through_in_order() -> None:
    found = numbers(3)
    assert list(found) == ["n0", "n1", "n2"]
    assert found[1] == "n1"
    assert len(found) == 3
    assert 2 in found
    assert 3 not in found
    assert "n2" in found
    assert "n3" not in found
    assert found.latest() == "n2"


def test_a_call_of_a_listing_says_that_it_is_no_method() -> None:
    names = append_table(COLUMNS).tags
    with pytest.raises(TypeError, match=r"Write \.tags without parentheses; \.tags\[key\]"):
        names()  # type: ignore[operator]


def test_an_empty_listing_has_no_latest() -> None:
    assert numbers(0).latest() is None
    assert repr(numbers(0)) == "0 numbers"


def test_a_long_listing_prints_its_end() -> None:
    lines = repr(numbers(30)).splitlines()
    assert lines[0] == "30 numbers, the last 4:"
    assert lines[1] == "  26 n26"
    assert lines[-1] == "  29 n29"


def test_names_that_could_harm_a_terminal_are_printed_with_escapes() -> None:
    given = ["plain ä", "a\x1b[2J"]
    names = Listing(
        kind="names",
        item_type=str,
        keys=lambda: given,
        load=str,
        line=lambda name, _: name,
        file_io=LocalFileIO(),
    )
    assert repr(names) == "2 names\n  plain ä\n  a\\x1b[2J"


def test_the_listings_of_a_table_print_one_line_each() -> None:
    table = append_table(COLUMNS, [{"id": 1}, {"id": 2}], [{"id": 3}])
    table.create_tag("first", 1)
    table._store.consumers.save("reader", Consumer(next_snapshot=2))
    time = local_time(table.snapshots[2].time_millis)
    assert repr(table.snapshots).splitlines()[0] == "2 snapshots"
    assert f"2  APPEND     {time}  schema 0  +1 rows, 3 total" in repr(table.snapshots)
    assert repr(table.schemas) == "1 schema\n  0  id INT"
    assert repr(table.tags) == "1 tag\n  first  snapshot 1"
    assert repr(table.branches) == "0 branches"
    assert repr(table.maintenance.consumers) == "1 consumer\n  reader  next snapshot 2"
    assert table.maintenance.consumers["reader"] == Consumer(next_snapshot=2)
    with pytest.raises(NotFoundError, match="nobody"):
        table.maintenance.consumers["nobody"]
