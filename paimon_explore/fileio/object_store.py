"""Object stores: S3 and what speaks its protocol (MinIO, OSS, Ceph), Google Cloud, Azure.

`create` is one conditional put ("only if no object of that key exists"), which the store decides;
stores at other endpoints than Amazon's have to prove first that they do. There is no folder, so a
folder is there when an object lies below it, and renaming one is copying.
New data files are collected on the local disk and uploaded when complete, so that a writer that
dies leaves nothing behind. A folder that must be there while it is empty holds an empty object of
a hidden name.
"""

import io
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import obstore
import pyarrow as pa
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError, PreconditionError
from obstore.store import AzureStore, GCSStore, S3Store

from paimon_explore.errors import (
    InvalidInputError,
    MissingFileError,
    StorageError,
    UnsupportedFeatureError,
)
from paimon_explore.fileio import paths
from paimon_explore.fileio.file_io import FileStatus
from paimon_explore.fileio.streams import naming_stream
from paimon_explore.values import dataclass

Store: TypeAlias = S3Store | GCSStore | AzureStore

_S3_NAMES = MappingProxyType(
    {  # what Paimon, Hadoop and fsspec call the settings
        "access-key": "access_key_id",
        "access.key": "access_key_id",
        "accesskeyid": "access_key_id",
        "key": "access_key_id",
        "secret-key": "secret_access_key",
        "secret.key": "secret_access_key",
        "accesskeysecret": "secret_access_key",
        "secret": "secret_access_key",
        "session.token": "session_token",
        "session-token": "session_token",
        "securitytoken": "session_token",
        "token": "session_token",
        "endpoint": "endpoint",
        "endpoint_url": "endpoint",
        "region": "region",
        "path.style.access": "path_style",
        "path-style-access": "path_style",
    }
)
_S3_PREFIXES = ("fs.s3a.", "fs.s3.", "s3a.", "s3.", "fs.oss.", "oss.", "aws_")
_DELETE_AT_ONCE = 500
_FOLDER_MARK = ".folder"
_TRUSTED: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
"""Buckets, with their settings, whose conditional puts were seen to work."""


@dataclass(frozen=True, slots=True)
class ObjectStoreFileIO:
    """Objects of any bucket that the same settings open.

    Attributes:
        options: settings as sorted pairs, in the names of Paimon (`s3.access-key`, `s3.endpoint`)
            or of obstore (`access_key_id`, `endpoint`); what is not given comes from the
            environment (`AWS_...`, `GOOGLE_...`, `AZURE_...`).
    """

    options: tuple[tuple[str, str], ...] = ()

    def read(self, path: str) -> bytes:
        """The whole content of an object."""
        store, key = self._locate(path)
        with _naming("read", path):
            return bytes(obstore.get(store, key).bytes())

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Bytes [offset, offset + length) of an object; fewer when it ends before."""
        if not length:
            return b""
        store, key = self._locate(path)
        with _naming("read", path):
            return bytes(obstore.get_range(store, key, start=offset, length=length))

    def open(self, path: str) -> pa.NativeFile:
        """An object for random reading; the caller closes it."""
        store, key = self._locate(path)
        with _naming("open", path):
            size = int(obstore.head(store, key)["size"])
        return pa.PythonFile(_RangeReader(self, path, size), mode="r")

    def status(self, path: str) -> FileStatus:
        """Size and time of an object, or that there is something below the path."""
        store, key = self._locate(path)
        with _naming("look at", path):
            try:
                found = obstore.head(store, key)
            except (FileNotFoundError, NotFoundError):
                if not self._has_below(path):
                    raise
                return _folder(path)
            return _file(path, found["size"], found["last_modified"].timestamp())

    def exists(self, path: str) -> bool:
        """Whether there is an object, or one below the path."""
        try:
            self.status(path)
        except MissingFileError:
            return False
        return True

    def list(self, folder: str) -> list[FileStatus]:
        """What lies directly below a path, by name; nothing when it is absent."""
        store, key = self._locate(folder)
        with _naming("list", folder):
            found = obstore.list_with_delimiter(store, _prefix(key))
        statuses = [_folder(_below(folder, key, prefix)) for prefix in found["common_prefixes"]]
        for item in found["objects"]:
            path = _below(folder, key, item["path"])
            statuses.append(_file(path, item["size"], item["last_modified"].timestamp()))
        return sorted(statuses, key=lambda status: status.name)

    def walk(self, folder: str) -> Iterator[FileStatus]:
        """All objects below a path, in no order."""
        store, key = self._locate(folder)
        with _naming("list", folder):
            for page in obstore.list(store, _prefix(key)):
                for item in page:
                    path = _below(folder, key, item["path"])
                    yield _file(path, item["size"], item["last_modified"].timestamp())

    def create(self, path: str, data: bytes) -> bool:
        """Make an object unless there is one of that key: one conditional put.

        When the reply is lost and the request repeated, the own object may look like another's;
        whoever must know compares the content.
        """
        store, key = self._locate(path)
        with _naming("create", path):
            self._check_conditions(store, path, key)
            return _put_new(store, key, data)

    def replace(self, path: str, data: bytes) -> None:
        """Write an object whether or not it exists."""
        store, key = self._locate(path)
        with _naming("replace", path):
            obstore.put(store, key, data)

    @contextmanager
    def create_stream(self, path: str) -> Iterator[pa.NativeFile]:
        """A new object, uploaded when the block ends; nothing is left if it raises."""
        store, key = self._locate(path)
        with tempfile.TemporaryDirectory(prefix="paimon-upload-") as folder:
            part = Path(folder) / "part"
            with naming_stream(path), pa.OSFile(str(part), "wb") as stream:
                yield stream
            with _naming("create", path):
                obstore.put(store, key, part)

    def delete(self, path: str) -> None:
        """Remove an object; not an error if it is absent."""
        store, key = self._locate(path)
        with _naming("delete", path), suppress(FileNotFoundError, NotFoundError):
            obstore.delete(store, key)

    def delete_folder(self, path: str) -> None:
        """Remove everything below a path."""
        store, _ = self._locate(path)
        keys = [self._locate(status.path)[1] for status in self.walk(path)]
        with _naming("delete", path):
            for first in range(0, len(keys), _DELETE_AT_ONCE):
                obstore.delete(store, keys[first : first + _DELETE_AT_ONCE])

    def rename_folder(self, source: str, target: str) -> None:
        """Copy everything below a path, then remove the original: not one step."""
        store, _ = self._locate(source)
        moved = list(self.walk(source))
        if not moved:
            raise MissingFileError("rename", source)
        with _naming("rename", source):
            for status in moved:
                new_path = paths.join(target, status.path[len(source.rstrip("/")) :])
                obstore.copy(store, self._locate(status.path)[1], self._locate(new_path)[1])
        self.delete_folder(source)

    def make_folder(self, path: str) -> None:
        """Put an empty object of a hidden name below the path, which makes it a folder."""
        self.create(paths.join(path, _FOLDER_MARK), b"")

    def _locate(self, path: str) -> tuple[Store, str]:
        kind = paths.scheme(path)
        bucket, _, key = path.partition("://")[2].partition("/")
        if kind not in paths.OBJECT_STORE_SCHEMES or not bucket:
            raise InvalidInputError(f"{path!r} is no location in an object store.")
        return _store(kind, bucket, self.options), key.rstrip("/")

    def _check_conditions(self, store: Store, path: str, key: str) -> None:
        """Make sure, once, that a store under another name than Amazon's does what it is told.

        Raises:
            UnsupportedFeatureError: it overwrites objects although told not to; two commits at the
                same time would lose one of them.
        """
        place = (path.partition("://")[2].partition("/")[0], self.options)
        endpoint = store.config.get("endpoint", "") if isinstance(store, S3Store) else ""
        if place in _TRUSTED or not endpoint or "amazonaws.com" in endpoint:
            return
        probe = f"{key.rpartition('/')[0]}/.probe-{uuid.uuid4()}".lstrip("/")
        _put_new(store, probe, b"")
        overwrites = _put_new(store, probe, b"")
        with suppress(BaseError):  # an empty hidden object, which nobody minds
            obstore.delete(store, probe)
        if overwrites:
            raise UnsupportedFeatureError(
                f"the object store at {endpoint}, which overwrites objects that are there although "
                "told not to (If-None-Match: *),",
                path,
                hint="Commits would not be safe: two at once would lose one. Read only, or use a "
                "store that knows conditional puts.",
            )
        _TRUSTED.add(place)

    def _has_below(self, path: str) -> bool:
        store, key = self._locate(path)
        found = obstore.list_with_delimiter(store, _prefix(key))
        return bool(found["common_prefixes"] or found["objects"])


def _put_new(store: Store, key: str, data: bytes) -> bool:
    """Put an object unless there is one of that key."""
    try:
        obstore.put(store, key, data, mode="create", use_multipart=False)
    except (AlreadyExistsError, PreconditionError):
        return False
    return True


class _RangeReader(io.RawIOBase):
    """Random reads of an object, one request each."""

    def __init__(self, file_io: ObjectStoreFileIO, path: str, size: int) -> None:
        super().__init__()
        self._file_io = file_io
        self._path = path
        self._size = size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = start + offset
        return self._position

    def size(self) -> int:
        return self._size

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self._size - self._position)
        wanted = left if size is None or size < 0 else min(size, left)
        data = self._file_io.read_range(self._path, self._position, wanted)
        self._position += len(data)
        return data


@lru_cache(maxsize=32)
def _store(kind: str, bucket: str, options: tuple[tuple[str, str], ...]) -> Store:
    try:
        if kind in paths.S3_SCHEMES:
            return _s3(bucket, dict(options))
        if kind in paths.GOOGLE_SCHEMES:
            return GCSStore.from_url(f"gs://{bucket}", config=dict(options))  # type: ignore[arg-type]  # any of its keys
        return AzureStore.from_url(f"{kind}://{bucket}", config=dict(options))  # type: ignore[arg-type]  # any of its keys
    except BaseError as error:
        raise InvalidInputError(
            f"The storage options do not open {kind}://{bucket}: {_first_line(error)}"
        ) from error


def _s3(bucket: str, options: Mapping[str, str]) -> S3Store:
    config: dict[str, str] = {}
    for name, value in options.items():
        config[_s3_name(name)] = value
    path_style = config.pop("path_style", None)
    endpoint = config.get("endpoint", "")
    if endpoint and "://" not in endpoint:
        config["endpoint"] = endpoint = f"https://{endpoint}"
    if path_style is not None:
        config["virtual_hosted_style_request"] = str(path_style.lower() != "true").lower()
    if endpoint and "region" not in config:
        config["region"] = "us-east-1"
    plain = endpoint.startswith("http://")
    return S3Store(bucket, config=config, client_options={"allow_http": plain})  # type: ignore[arg-type]  # any of its keys


def _s3_name(name: str) -> str:
    """The name obstore has for a setting."""
    short = name.lower()
    for prefix in _S3_PREFIXES:
        short = short.removeprefix(prefix)
    return _S3_NAMES.get(short, short)


@contextmanager
def _naming(operation: str, path: str) -> Iterator[None]:
    """Turn the store's errors into ours, with what was done to which path."""
    try:
        yield
    except (FileNotFoundError, NotFoundError) as error:
        raise MissingFileError(operation, path) from error
    except (BaseError, OSError, ValueError) as error:
        raise StorageError(operation, path, _first_line(error)) from error


def _first_line(error: Exception) -> str:
    """What the store says, without its debugging details."""
    return str(error).partition("\n")[0]


def _prefix(key: str) -> str | None:
    return f"{key}/" if key else None


def _below(folder: str, key: str, found: str) -> str:
    """The whole path of a found key, in the spelling of the folder."""
    return paths.join(folder, found[len(key) :])


def _folder(path: str) -> FileStatus:
    return FileStatus(path=path, name=paths.name(path), size=0, is_folder=True, modified_ms=0)


def _file(path: str, size: int, modified_seconds: float) -> FileStatus:
    return FileStatus(
        path=path,
        name=paths.name(path),
        size=size,
        is_folder=False,
        modified_ms=int(modified_seconds * 1000),
    )
