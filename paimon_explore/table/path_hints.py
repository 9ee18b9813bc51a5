"""What a folder is that holds no table: told beside the error, so that the next try is right."""

from paimon_explore.errors import StorageError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.paths import parent
from paimon_explore.metadata.table_paths import TablePaths

_RULE = "The folder of a table contains schema/schema-0."
_DATABASE = ".db"
_SHOWN = 8
_CLIMBS = 4
_LOOKED_INTO = 20


def where_tables_are(file_io: FileIO, folder: str) -> str:
    """The rule for a table's folder, and where the tables near this one lie."""
    try:
        found = _above(file_io, folder) or _below(file_io, folder)
    except StorageError:
        found = ""
    return f"{_RULE} {found}".strip()


def _above(file_io: FileIO, folder: str) -> str:
    """The table whose inside this is."""
    outer = folder
    for _ in range(_CLIMBS):
        outer, inner = parent(outer), outer
        if outer == inner:
            return ""
        if _is_table(file_io, outer):
            return f"The path is inside of the table {outer}: open that one."
    return ""


def _below(file_io: FileIO, folder: str) -> str:
    """The databases of a warehouse, or the tables of a database."""
    folders = [entry for entry in file_io.list(folder) if entry.is_folder]
    databases = [entry.name for entry in folders if entry.name.endswith(_DATABASE)]
    if databases:
        names = [database.removesuffix(_DATABASE) for database in databases]
        return (
            f"The path is a warehouse with the databases {_shown(names)}: "
            f'use Catalog({folder!r}).table("{names[0]}.…").'
        )
    tables = [entry.name for entry in folders[:_LOOKED_INTO] if _is_table(file_io, entry.path)]
    return f"The path is a database with the tables {_shown(tables)}." if tables else ""


def _is_table(file_io: FileIO, folder: str) -> bool:
    return bool(file_io.list(TablePaths(folder).schema_dir))


def _shown(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return f"{shown} …" if len(names) > _SHOWN else shown
