"""The formats of files to import."""

from enum import StrEnum
from pathlib import Path

from paimon_explore.command_line.file_import.csv_file import CsvFile
from paimon_explore.command_line.file_import.import_file import CsvOptions, ImportFile
from paimon_explore.command_line.file_import.json_file import JsonFile
from paimon_explore.errors import InvalidInputError

_COMPRESSED = ".gz"


class FileFormat(StrEnum):
    """The format of a file."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


_SUFFIXES = {
    ".csv": FileFormat.CSV,
    ".tsv": FileFormat.CSV,
    ".txt": FileFormat.CSV,
    ".json": FileFormat.JSON,
    ".jsonl": FileFormat.JSON,
    ".ndjson": FileFormat.JSON,
    ".parquet": FileFormat.PARQUET,
    ".pq": FileFormat.PARQUET,
}


def format_of(path: Path, given: str | None) -> FileFormat:
    """Return the format of a file by its name.

    Raises:
        InvalidInputError: the name does not tell the format.
    """
    if given is not None:
        return FileFormat(given)
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != _COMPRESSED]
    found = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if found is None:
        raise InvalidInputError(
            f"The name {path.name!r} does not tell the format of the file.",
            hint="Add --format csv, json or parquet.",
        )
    return found


def open_import(path: Path, form: FileFormat, options: CsvOptions) -> ImportFile:
    """Return a file to import."""
    match form:
        case FileFormat.CSV:
            return CsvFile(path=path, options=options)
        case FileFormat.JSON:
            return JsonFile(path=path)
        case FileFormat.PARQUET:
            from paimon_explore.command_line.file_import.parquet_file import ParquetImport

            return ParquetImport(path=path)
