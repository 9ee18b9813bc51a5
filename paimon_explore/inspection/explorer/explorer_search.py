"""Finds data files and columns by parts of their names, for the search box of the explorer."""

from typing import Any

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.formatter import type_text
from paimon_explore.inspection.views.inspector import Inspector

MAX_FOUND = 20
"""The number of files, and of columns, that are returned."""


def search_names(inspector: Inspector, text: str) -> dict[str, object]:
    """The live files and the columns of the snapshot whose names contain a text, as JSON.

    Case is ignored. Reads the manifests of the snapshot if they are not known.

    Raises:
        NotFoundError: the snapshot does not exist.
        PaimonError: a manifest or the schema cannot be read.
    """
    fields = inspector.view.target(inspector.snapshot).schema.row_type.fields
    columns = [one for one in fields if text.casefold() in one.name.casefold()]
    files: list[object] = []
    if inspector.snapshot_id:
        names: Any = inspector.current_files().files.column("file_name")
        matches = pc.match_substring(names, text, ignore_case=True)
        files = names.filter(matches).slice(0, MAX_FOUND).to_pylist()
    return {
        "files": files,
        "columns": [[one.name, type_text(one.type)] for one in columns[:MAX_FOUND]],
    }
