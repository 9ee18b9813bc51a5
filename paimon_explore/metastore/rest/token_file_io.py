"""The storage of a table with credentials of the REST catalog, which expire and are renewed.

Every operation uses the current credentials: they are renewed before they expire, also in the
middle of a read or commit. If the storage refuses them earlier, they are renewed and the operation
is repeated once; a refused request has had no effect.

Spec: concepts/rest/rest-api, table tokens; option `data-token.enabled`.
"""

import builtins
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import FormatError, InvalidResponseError, StorageError
from paimon_explore.fileio.concurrent_requests import delete_each, max_requests
from paimon_explore.fileio.file_io import FileIO, FileStatus
from paimon_explore.fileio.object_reader import open_object
from paimon_explore.fileio.resolve import resolve
from paimon_explore.fileio.store_options import is_known_option
from paimon_explore.fileio.versioned_reads import StoreReads, read_immutable
from paimon_explore.metadata.json_object import JsonObject
from paimon_explore.metastore.catalog_options import CatalogOptions
from paimon_explore.metastore.rest.auth.auth_provider import TokenLifetime
from paimon_explore.metastore.rest.error_mapping import Subject
from paimon_explore.metastore.rest.rest_client import RestClient
from paimon_explore.threads import free_in_forks

_Result = TypeVar("_Result")

_SMALL_FILE_BYTES = 1 << 20
_PIECE_BYTES = 8 << 20
_REFUSALS = (
    *("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken"),
    *("InvalidToken", "TokenRefreshRequired", "SecurityTokenExpired", "InvalidSecurityToken"),
    *("AuthenticationFailed", "HTTP 401", "HTTP 403", "Forbidden", "Unauthorized"),
)
"""Parts of the messages of storages that refuse credentials."""


class TokenFileIO:
    """The storage of one table.

    Args:
        client: the connection to the catalog.
        database: the database of the table.
        table: the name of the table on the server, with its branch.
        root: the folder of the table.
        storage: settings of the storage; those of a token take precedence.
        clock: returns epoch milliseconds.
    """

    def __init__(
        self,
        client: RestClient,
        database: str,
        table: str,
        root: str,
        storage: Mapping[str, object],
        *,
        clock: Callable[[], int] = system_clock,
    ) -> None:
        self._client = client
        self._database = database
        self._table = table
        self._root = root
        self._storage = dict(storage)
        self._clock = clock
        self._lock = free_in_forks(threading.Lock())
        self._current: tuple[FileIO, TokenLifetime] | None = None

    def __repr__(self) -> str:
        """The table; credentials are secret."""
        return f"TokenFileIO({self._database!r}, {self._table!r})"

    def __getstate__(self) -> dict[str, object]:
        """All but the lock."""
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore with a new lock."""
        self.__dict__.update(state)
        self._lock = free_in_forks(threading.Lock())

    @property
    def max_requests(self) -> int:
        """How many requests are sent at the same time; see `concurrent_requests`."""
        return max_requests(self._file_io())

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        return self._run(lambda file_io: file_io.read(path))

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Return the bytes [offset, offset + length) of a file; fewer at the end of the file."""
        return self._run(lambda file_io: file_io.read_range(path, offset, length))

    def read_version(self, path: str, etag: str) -> bytes:
        """Return the current content of an object that was listed with an entity tag."""

        def use(file_io: FileIO) -> bytes:
            if isinstance(file_io, StoreReads):
                return file_io.read_version(path, etag)
            return file_io.read(path)

        return self._run(use)

    def read_immutable(self, path: str) -> bytes:
        """Return the content of a file whose name is used only once."""
        return self._run(lambda file_io: read_immutable(file_io, path))

    def open(self, path: str) -> pa.NativeFile:
        """Open a file for random access; each read uses the credentials of its time."""
        file_io = self._file_io()
        if not isinstance(file_io, StoreReads):
            return file_io.open(path)
        return open_object(partial(self.read_range, path), self.status(path).size)

    def open_sized(self, path: str, size: int) -> pa.NativeFile:
        """Open a file whose size is known; a small one is read as a whole in one request."""
        return self.open(path) if size > _SMALL_FILE_BYTES else pa.BufferReader(self.read(path))

    def status(self, path: str) -> FileStatus:
        """Return the metadata of a file or folder."""
        return self._run(lambda file_io: file_io.status(path))

    def exists(self, path: str) -> bool:
        """Return whether a file or folder exists."""
        return self._run(lambda file_io: file_io.exists(path))

    def list(self, folder: str) -> builtins.list[FileStatus]:
        """List a folder, sorted by name; empty if it does not exist."""
        return self._run(lambda file_io: file_io.list(folder))

    def walk(self, folder: str) -> Iterator[FileStatus]:
        """Yield all files below a folder recursively, in no particular order."""
        yield from self._run(lambda file_io: [*file_io.walk(folder)])

    def create(self, path: str, data: bytes) -> bool:
        """Create a new file atomically; False if it exists."""
        return self._run(lambda file_io: file_io.create(path, data))

    def replace(self, path: str, data: bytes) -> None:
        """Create or replace a file."""
        self._run(lambda file_io: file_io.replace(path, data))

    @contextmanager
    def create_stream(self, path: str) -> Iterator[pa.NativeFile]:
        """Open a new file for writing; it is uploaded after the block, with credentials of then."""
        file_io = self._file_io()
        if not isinstance(file_io, StoreReads):
            with file_io.create_stream(path) as stream:
                yield stream
            return
        with tempfile.TemporaryDirectory(prefix="paimon-upload-") as folder:
            part = Path(folder) / "part"
            with pa.OSFile(str(part), "wb") as stream:
                yield stream
            self._run(lambda file_io: _upload(file_io, part, path))

    def delete(self, path: str) -> None:
        """Delete a file, if it exists."""
        self._run(lambda file_io: file_io.delete(path))

    def delete_files(self, files: Iterable[str]) -> None:
        """Delete files, if they exist."""
        removed = list(files)
        self._run(lambda file_io: delete_each(file_io, removed))

    def delete_folder(self, path: str) -> None:
        """Delete a folder recursively, if it exists."""
        self._run(lambda file_io: file_io.delete_folder(path))

    def rename_folder(self, source: str, target: str) -> None:
        """Move a folder."""
        self._run(lambda file_io: file_io.rename_folder(source, target))

    def make_folder(self, path: str) -> None:
        """Create a folder and its parents."""
        self._run(lambda file_io: file_io.make_folder(path))

    def _run(self, use: Callable[[FileIO], _Result]) -> _Result:
        """Use the storage; once more with new credentials if it refuses the current ones."""
        file_io = self._file_io()
        try:
            return use(file_io)
        except StorageError as error:
            if not any(code in error.reason for code in _REFUSALS):
                raise
        return use(self._file_io(refused=file_io))

    def _file_io(self, refused: FileIO | None = None) -> FileIO:
        """Return the storage with current credentials; others than those that were refused."""
        with self._lock:
            current = self._current
            if current is None or current[0] is refused or current[1].is_due(self._clock()):
                current = self._current = self._load()
            return current[0]

    def _load(self) -> tuple[FileIO, TokenLifetime]:
        path = self._client.paths.table(self._database, self._table, "token")
        action = f"load the storage token of table '{self._database}.{self._table}'"
        subject = Subject(kind="table", name=self._table, where=self._database)
        token, expires_at = _token_of(self._client.get(path, action, subject), action)
        endpoint = self._client.options.get("dlf.oss-endpoint")
        if endpoint:  # overrides the endpoint of the token
            token["fs.oss.endpoint"] = endpoint
        options = {**self._storage, **_storage_options(token)}
        return resolve(self._root, options)[0], TokenLifetime(self._clock(), expires_at)


def _token_of(source: JsonObject, action: str) -> tuple[dict[str, str], int]:
    """Return credentials and expiry of a response; errors do not show values.

    Raises:
        InvalidResponseError: not a token.
    """
    try:
        return source.texts("token"), source.integer("expiresAtMillis")
    except FormatError as error:
        field = getattr(error, "where", "") or "token"
        reason = f"the server's response has no valid value of {field!r}"
    raise InvalidResponseError(f"{action} at", source.path, reason)


def _storage_options(token: Mapping[str, str]) -> dict[str, str]:
    """Return the options of a token that are settings of the storage; others are not for us."""
    found = CatalogOptions(token).storage()
    return {key: value for key, value in found.items() if is_known_option(key)}


def _upload(file_io: FileIO, part: Path, path: str) -> None:
    with part.open("rb") as source, file_io.create_stream(path) as target:
        while piece := source.read(_PIECE_BYTES):
            target.write(piece)
