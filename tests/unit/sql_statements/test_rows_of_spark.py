"""SQL without Spark returns the rows that Spark returned, but for known differences."""

from pathlib import Path

import paimon_explore as pe
from support.sql_cases import CASES, other_results


def test_statements_return_the_rows_of_spark(tmp_path: Path) -> None:
    catalog = pe.Catalog(tmp_path)
    catalog.create_database("db")
    catalog.sql("USE db")
    found = other_results(lambda text: catalog.sql(text).to_arrow(), (pe.PaimonError,))
    assert set(found) == {text for texts in CASES["different"].values() for text in texts}
