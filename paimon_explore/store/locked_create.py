"""Creates snapshot and schema files, holding the lock of the table's catalog if it has one."""

from typing import TYPE_CHECKING

from paimon_explore.fileio.file_io import FileIO

if TYPE_CHECKING:
    from paimon_explore.store.catalog_environment import CatalogEnvironment


def create_file(
    file_io: FileIO, path: str, data: bytes, environment: "CatalogEnvironment | None"
) -> bool:
    """Create a file atomically; False if it exists.

    The lock protects tables on storage without atomic creation, and keeps other writers of the
    catalog out that rely on the lock alone.

    Raises:
        CommitError: the lock could not be acquired; nothing was written.
    """
    lock = None if environment is None else environment.lock()
    if lock is None:
        return file_io.create(path, data)
    from contextlib import ExitStack  # noqa: PLC0415 - only for catalogs with locks

    from paimon_explore.errors import CommitError, StorageError  # noqa: PLC0415

    with ExitStack() as stack:
        try:
            stack.enter_context(lock)
        except StorageError as error:
            raise CommitError(
                f"Nothing was committed, because the catalog's lock could not be acquired. {error}"
            ) from error
        return file_io.create(path, data)
