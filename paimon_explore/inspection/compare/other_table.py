"""Opens another table of the same warehouse, or another branch, to compare it with a table."""

import re
from dataclasses import replace

from paimon_explore.errors import InvalidInputError, NotFoundError, choices
from paimon_explore.fileio.paths import join, parent
from paimon_explore.inspection.table_view import TableView
from paimon_explore.metadata.options.table_options import (
    DATA_FILE_PATH_DIRECTORY,
    INDEX_FILE_IN_DATA_FILE_DIR,
    TableOptions,
)
from paimon_explore.metadata.table_paths import MAIN_BRANCH, TablePaths
from paimon_explore.store.table_store import TableStore

_PART = re.compile(r"[^./\\$\x00-\x1f]{1,200}")


def other_view(view: TableView, table: str, branch: str) -> TableView:
    """Another branch or table for a view.

    Args:
        view: a table.
        table: `table` or `database.table` in the same warehouse; empty for the same table.
        branch: the branch; empty for the same branch of the same table, else the main branch.

    Raises:
        InvalidInputError: the name is not a table name, or the tables of the catalog are not in
            folders of one warehouse.
        NotFoundError: there is no such table or branch.
    """
    if not table:
        if branch in ("", view.branch):
            return view
        if branch != MAIN_BRANCH and branch not in view.store.branches.names():
            known = [MAIN_BRANCH, *view.store.branches.names()]
            raise NotFoundError("branch", branch, hint=f"Branches: {choices(known, limit=10)}.")
        base = view.name.partition("$branch_")[0]
        name = base if branch == MAIN_BRANCH else f"{base}$branch_{branch}"
        store = view.store.for_branch(branch)
        return replace(
            view, store=store, schema=store.schemas.latest(), name=name, dynamic_options={}
        )
    root, name = _sibling(view, table)
    store = TableStore(view.store.file_io, TablePaths(root, branch or MAIN_BRANCH))
    schema = store.schemas.latest()
    if schema is None:
        raise NotFoundError("table", f"{name}{f', branch {branch}' if branch else ''}", root)
    options = TableOptions(schema.options)
    located = TablePaths(
        root,
        branch or MAIN_BRANCH,
        data_directory=options.value(DATA_FILE_PATH_DIRECTORY) or "",
        index_in_data_directory=options.value(INDEX_FILE_IN_DATA_FILE_DIR),
    )
    return replace(
        view,
        store=TableStore(view.store.file_io, located),
        schema=schema,
        name=f"{name}$branch_{branch}" if branch and branch != MAIN_BRANCH else name,
        dynamic_options={},
    )


def _sibling(view: TableView, table: str) -> tuple[str, str]:
    """Folder and name of another table of the warehouse."""
    if view.store.environment is not None:
        raise InvalidInputError(
            "Only branches and snapshots of this table can be compared here, because its catalog "
            "is not a folder.",
            hint="Compare tables of this catalog in Python: pe.compare(a, b).",
        )
    parts = table.split(".")
    if not 1 <= len(parts) <= 2 or not all(_PART.fullmatch(part) for part in parts):  # noqa: PLR2004
        raise InvalidInputError(
            f"{table[:80]!r} is not a table name.",
            hint="Write database.table of the same warehouse; compare other tables in Python: "
            "pe.compare(a, b).",
        )
    folder = parent(view.location)
    if len(parts) == 1:
        return join(folder, table), f"{view.database}.{table}" if view.database else table
    return join(parent(folder), f"{parts[0]}.db", parts[1]), table
