"""The magic for cells of SQL, without a session."""

from collections.abc import Callable

import pytest

import paimon_explore.spark
from paimon_explore.errors import InvalidInputError
from paimon_explore.spark.sql_magic import Cell, load_ipython_extension


class Notebook:
    """As much of IPython's shell as a magic needs."""

    def __init__(self) -> None:
        self.user_ns: dict[str, object] = {}
        self.known: dict[str, str] = {}

    def register_magic_function(
        self, func: Callable[..., object], magic_kind: str, magic_name: str
    ) -> None:
        assert callable(func)
        self.known[magic_name] = magic_kind


def test_load_ext_makes_the_magic_known_for_lines_and_cells() -> None:
    notebook = Notebook()
    load_ipython_extension(notebook)
    assert notebook.known == {"paimon_sql": "line_cell"}
    assert "load_ipython_extension" in paimon_explore.spark.__all__


@pytest.mark.parametrize("line", ["--limit many", "--warehouse", "a b", "--colour"])
def test_wrong_arguments_are_answered_with_the_right_ones(line: str) -> None:
    with pytest.raises(InvalidInputError, match=r"%%paimon_sql \[name\] \[--warehouse FOLDER\]"):
        Cell(Notebook()).run(line, "SELECT 1")
