"""Validation of options that become part of a path.

Options determine file names (`data-file.prefix`, `file.compression`), folders
(`data-file.path-directory`) and names of branches and tags. A value that would escape its folder is
refused when the option is set, and again before a write, because the schema file may come from
another writer.

Spec: maintenance/configurations; concepts/spec/overview.
"""

from collections.abc import Iterator

from paimon_explore.errors import CorruptFileError, InvalidInputError
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_definition import Option
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.options.tag_options import CONSUMER_ID, TAG_BATCH_CUSTOMIZED_NAME
from paimon_explore.metadata.path_safety import escapes_folder, is_name_part
from paimon_explore.metadata.schema.table_schema import TableSchema, cached_by_schema_and_options
from paimon_explore.metadata.table_paths import is_data_folder, is_metadata_folder

_FILE_NAME_PARTS: tuple[Option[str], ...] = (
    opt.DATA_FILE_PREFIX,
    opt.CHANGELOG_FILE_PREFIX,
    opt.FILE_COMPRESSION,
)
_NAMES: tuple[Option[str | None], ...] = (
    opt.BRANCH,
    opt.SCAN_FALLBACK_BRANCH,
    opt.SCAN_PRIMARY_BRANCH,
    opt.SCAN_FALLBACK_SNAPSHOT_BRANCH,
    opt.SCAN_FALLBACK_DELTA_BRANCH,
    opt.SCAN_TAG_NAME,
    TAG_BATCH_CUSTOMIZED_NAME,
    CONSUMER_ID,
)
_PART_RULE = (
    "must be valid in a file name: printable characters without '/', '\\' or ':', not starting "
    "with '.'"
)
_NAME_RULE = "must be a name without '/', '\\' or NUL, and not '', '.' or '..'"


def path_violations(_: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that options that become part of a path do not escape their folder."""
    yield from _part_violations(options)
    for option in _NAMES:
        name = options.value(option)
        if name is not None and escapes_folder(name):
            yield f"{option.key!r} = {name[:80]!r} {_NAME_RULE}"
    default_name = options.value(opt.PARTITION_DEFAULT_NAME) or ""
    if not default_name.strip():
        yield f"{opt.PARTITION_DEFAULT_NAME.key!r} must not be empty or blank"
    folder = options.value(opt.DATA_FILE_PATH_DIRECTORY) or ""
    if not is_data_folder(folder):
        yield (
            f"{opt.DATA_FILE_PATH_DIRECTORY.key!r} = {folder[:80]!r} must be a relative path of a "
            "folder inside the table, without '..'"
        )
    elif is_metadata_folder(folder.partition("/")[0]):
        yield (
            f"{opt.DATA_FILE_PATH_DIRECTORY.key!r} = {folder[:80]!r} must not be in a metadata "
            "folder of the table"
        )


def _part_violations(options: TableOptions) -> Iterator[str]:
    parts = [(option.key, options.value(option)) for option in _FILE_NAME_PARTS]
    codec = options.value(opt.CHANGELOG_FILE_COMPRESSION)
    parts.append((opt.CHANGELOG_FILE_COMPRESSION.key, codec or ""))
    if options.value(opt.BUCKET) == opt.POSTPONE_BUCKET:  # file names contain the user
        parts.append((opt.COMMIT_USER_PREFIX.key, options.value(opt.COMMIT_USER_PREFIX) or ""))
    per_level = opt.FILE_COMPRESSION_PER_LEVEL
    parts += [(per_level.key, codec) for codec in options.value(per_level).values()]
    for key, text in parts:
        if text and not is_name_part(text):
            yield f"{key!r} = {text[:80]!r} {_PART_RULE}"


def check_path_options(schema: TableSchema, options: TableOptions, path: str) -> None:
    """Check before a write that no option makes files escape their folders.

    Args:
        schema: the table's schema.
        options: the effective options.
        path: the schema file.

    Raises:
        CorruptFileError: an option of the schema is invalid.
        InvalidInputError: an option of the caller is invalid.
    """
    broken = _broken(schema, options)
    if not broken:
        return
    stored = _broken(schema, TableOptions(schema.options))
    if broken[0] in stored:
        hint = "Nothing was written. Set the option to another value, or remove it."
        raise CorruptFileError(path, "options", broken[0], hint=hint)
    raise InvalidInputError(f"Option {broken[0]}.")


@cached_by_schema_and_options
def _broken(schema: TableSchema, options: TableOptions) -> tuple[str, ...]:
    return tuple(path_violations(schema, options))
