"""Object stores: S3 and what speaks its protocol (MinIO, OSS, Ceph), Google Cloud, Azure.

`create` is one conditional put ("only if no object of that key exists"), which the store decides;
stores at other endpoints than Amazon's have to prove first that they do. There is no folder, so a
folder is there when an object lies below it, and renaming one is copying.
New data files are collected on the local disk and uploaded when complete, so that a writer that
dies leaves nothing behind. A folder that must be there while it is empty holds an empty object of
a hidden name.

Requests that fail for a passing reason are repeated with backoff for as long as `retry_timeout`
says (see `store_options`). Reads, lists, deletes and unconditional puts may be repeated as they
are. A conditional put whose reply was lost is looked up first: if the object is there and has the
content of this call, this call has made it.
"""

import io
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeAlias

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
from paimon_explore.fileio.store_options import StoreSettings, store_settings
from paimon_explore.fileio.store_retries import (
    Attempts,
    RetryPolicy,
    is_transient,
    is_write_conflict,
    naming,
    retried,
)
from paimon_explore.fileio.streams import naming_stream
from paimon_explore.frozen_dataclass import dataclass

Store: TypeAlias = S3Store | GCSStore | AzureStore
Options: TypeAlias = tuple[tuple[str, str], ...]

_DELETE_AT_ONCE = 500
_FOLDER_MARK = ".folder"
_CLIENT_RETRIES = 3
_BACKOFF = {
    "init_backoff": timedelta(milliseconds=50),
    "max_backoff": timedelta(seconds=2),
    "base": 2,
}
_TRUSTED: set[tuple[str, Options]] = set()
"""Buckets, with their settings, whose conditional puts were seen to work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A bucket that is open.

    Attributes:
        store: its client, which repeats safe requests a few times by itself.
        policy: how long failing requests are repeated.
        endpoint: where it is, if not at the provider's own address.
    """

    store: Store
    policy: RetryPolicy
    endpoint: str


@dataclass(frozen=True, slots=True)
class ObjectStoreFileIO:
    """Objects of any bucket that the same settings open.

    Attributes:
        options: settings as sorted pairs, in the names of Paimon (`s3.access-key`, `s3.endpoint`)
            or of obstore (`access_key_id`, `endpoint`); what is not given comes from the
            environment (`AWS_...`, `GOOGLE_...`, `AZURE_...`).
    """

    options: Options = ()

    def read(self, path: str) -> bytes:
        """The whole content of an object."""
        bucket, key = self._locate(path)
        with naming("read", path):
            return retried(bucket.policy, lambda: bytes(obstore.get(bucket.store, key).bytes()))

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Bytes [offset, offset + length) of an object; fewer when it ends before."""
        if not length:
            return b""
        bucket, key = self._locate(path)

        def request() -> bytes:
            return bytes(obstore.get_range(bucket.store, key, start=offset, length=length))

        with naming("read", path):
            return retried(bucket.policy, request)

    def open(self, path: str) -> pa.NativeFile:
        """An object for random reading; the caller closes it."""
        bucket, key = self._locate(path)
        with naming("open", path):
            size = int(retried(bucket.policy, lambda: obstore.head(bucket.store, key))["size"])
        return pa.PythonFile(_RangeReader(self, path, size), mode="r")

    def status(self, path: str) -> FileStatus:
        """Size and time of an object, or that there is something below the path."""
        bucket, key = self._locate(path)
        with naming("look at", path):
            try:
                found = retried(bucket.policy, lambda: obstore.head(bucket.store, key))
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
        bucket, key = self._locate(folder)
        prefix = _prefix(key)
        with naming("list", folder):
            found = retried(
                bucket.policy, lambda: obstore.list_with_delimiter(bucket.store, prefix)
            )
        statuses = [_folder(_below(folder, key, inner)) for inner in found["common_prefixes"]]
        for item in found["objects"]:
            path = _below(folder, key, item["path"])
            statuses.append(_file(path, item["size"], item["last_modified"].timestamp()))
        return sorted(statuses, key=lambda status: status.name)

    def walk(self, folder: str) -> Iterator[FileStatus]:
        """All objects below a path, in no order.

        When a page of the listing fails, the listing goes on behind the last object that was seen.
        """
        bucket, key = self._locate(folder)
        attempts = Attempts(bucket.policy)
        last: str | None = None
        in_order = True
        while True:
            try:
                with naming("list", folder):
                    for page in obstore.list(bucket.store, _prefix(key), offset=last):
                        attempts.succeeded()
                        for item in page:
                            in_order = in_order and (last is None or last < item["path"])
                            last = item["path"]
                            path = _below(folder, key, item["path"])
                            yield _file(path, item["size"], item["last_modified"].timestamp())
            except StorageError as error:
                cause = error.__cause__
                if not in_order or not isinstance(cause, BaseError) or not is_transient(cause):
                    raise
                with naming("list", folder):
                    attempts.failed(cause)
            else:
                return

    def create(self, path: str, data: bytes) -> bool:
        """Make an object unless there is one of that key: one conditional put at a time.

        A put whose reply was lost may have made the object; it is known by its content.
        """
        bucket, key = self._locate(path)
        with naming("create", path):
            self._check_conditions(bucket, path, key)
            return self._put_new(path, data)

    def replace(self, path: str, data: bytes) -> None:
        """Write an object whether or not it exists."""
        bucket, key = self._locate(path)
        with naming("replace", path):
            retried(bucket.policy, lambda: obstore.put(bucket.store, key, data))

    @contextmanager
    def create_stream(self, path: str) -> Iterator[pa.NativeFile]:
        """A new object, uploaded when the block ends; nothing is left if it raises."""
        bucket, key = self._locate(path)
        with tempfile.TemporaryDirectory(prefix="paimon-upload-") as folder:
            part = Path(folder) / "part"
            with naming_stream(path), pa.OSFile(str(part), "wb") as stream:
                yield stream
            with naming("create", path):
                retried(bucket.policy, lambda: obstore.put(bucket.store, key, part))

    def delete(self, path: str) -> None:
        """Remove an object; not an error if it is absent."""
        bucket, key = self._locate(path)
        with naming("delete", path), suppress(FileNotFoundError, NotFoundError):
            retried(bucket.policy, lambda: obstore.delete(bucket.store, key))

    def delete_folder(self, path: str) -> None:
        """Remove everything below a path."""
        bucket, _ = self._locate(path)
        keys = [self._locate(status.path)[1] for status in self.walk(path)]
        with naming("delete", path):
            for first in range(0, len(keys), _DELETE_AT_ONCE):
                some = keys[first : first + _DELETE_AT_ONCE]
                retried(bucket.policy, partial(obstore.delete, bucket.store, some))

    def rename_folder(self, source: str, target: str) -> None:
        """Copy everything below a path, then remove the original: not one step."""
        bucket, _ = self._locate(source)
        moved = list(self.walk(source))
        if not moved:
            raise MissingFileError("rename", source)
        with naming("rename", source):
            for status in moved:
                new_path = paths.join(target, status.path[len(source.rstrip("/")) :])
                old, new = self._locate(status.path)[1], self._locate(new_path)[1]
                retried(bucket.policy, partial(obstore.copy, bucket.store, old, new))
        self.delete_folder(source)

    def make_folder(self, path: str) -> None:
        """Put an empty object of a hidden name below the path, which makes it a folder."""
        self.create(paths.join(path, _FOLDER_MARK), b"")

    def _locate(self, path: str) -> tuple[Bucket, str]:
        kind, bucket, key = _parts(path)
        return _bucket(kind, bucket, self.options), key

    def _put_new(self, path: str, data: bytes) -> bool:
        """Put an object unless there is one of that key; True if this call made it."""
        bucket, key = self._locate(path)
        once = _once(*_parts(path)[:2], self.options)
        unsure = False

        def request() -> bool:
            nonlocal unsure
            there = _content(bucket.store, key) if unsure else None
            if there is not None:
                return there == data
            try:
                obstore.put(once, key, data, mode="create", use_multipart=False)
            except (AlreadyExistsError, PreconditionError) as error:
                if not unsure and not is_write_conflict(error):
                    return False
                there = _content(bucket.store, key)
                if there is None:  # removed meanwhile, or not decided yet
                    raise
                return unsure and there == data
            except BaseError as error:
                unsure = unsure or is_transient(error)
                raise
            return True

        return retried(bucket.policy, request)

    def _check_conditions(self, bucket: Bucket, path: str, key: str) -> None:
        """Make sure, once, that a store under another name than Amazon's does what it is told.

        Raises:
            UnsupportedFeatureError: it overwrites objects although told not to; two commits at the
                same time would lose one of them.
        """
        kind, name, _ = _parts(path)
        place = (name, self.options)
        is_s3 = kind in paths.S3_SCHEMES
        if place in _TRUSTED or not is_s3 or not bucket.endpoint:
            return
        if "amazonaws.com" in bucket.endpoint:
            return
        probe = f"{key.rpartition('/')[0]}/.probe-{uuid.uuid4()}".lstrip("/")
        retried(bucket.policy, lambda: obstore.put(bucket.store, probe, b""))
        overwrites = retried(bucket.policy, lambda: _overwrites(_once(kind, *place), probe))
        with suppress(BaseError):  # an empty hidden object, which nobody minds
            obstore.delete(bucket.store, probe)
        if overwrites:
            raise UnsupportedFeatureError(
                f"the object store at {bucket.endpoint}, which overwrites objects that are there "
                "although told not to (If-None-Match: *),",
                path,
                hint="Commits would not be safe: two at once would lose one. Read only, or use a "
                "store that knows conditional puts.",
            )
        _TRUSTED.add(place)

    def _has_below(self, path: str) -> bool:
        bucket, key = self._locate(path)
        prefix = _prefix(key)
        found = retried(bucket.policy, lambda: obstore.list_with_delimiter(bucket.store, prefix))
        return bool(found["common_prefixes"] or found["objects"])


def _parts(path: str) -> tuple[str, str, str]:
    """Scheme, bucket and key of a path."""
    kind = paths.scheme(path)
    bucket, _, key = path.partition("://")[2].partition("/")
    if kind not in paths.OBJECT_STORE_SCHEMES or not bucket:
        raise InvalidInputError(
            f"{path!r} is not a location in an object store.",
            hint="Locations look like s3://bucket/folder.",
        )
    return kind, bucket, key.rstrip("/")


def _content(store: Store, key: str) -> bytes | None:
    """What an object holds; None if there is none."""
    try:
        return bytes(obstore.get(store, key).bytes())
    except (FileNotFoundError, NotFoundError):
        return None


def _overwrites(store: Store, key: str) -> bool:
    """Whether a conditional put replaces an object that is there."""
    try:
        obstore.put(store, key, b"", mode="create", use_multipart=False)
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
def _bucket(kind: str, bucket: str, options: Options) -> Bucket:
    settings = store_settings(kind, bucket, options)
    store = _store(kind, bucket, settings, retries=_CLIENT_RETRIES)
    policy = RetryPolicy(
        timeout=settings.retry_timeout,
        max_retries=settings.max_retries,
        place=(kind, bucket, options),
    )
    return Bucket(store=store, policy=policy, endpoint=settings.config.get("endpoint", ""))


@lru_cache(maxsize=32)
def _once(kind: str, bucket: str, options: Options) -> Store:
    """The client of a bucket that sends each request once."""
    return _store(kind, bucket, store_settings(kind, bucket, options), retries=0)


def _store(kind: str, bucket: str, settings: StoreSettings, *, retries: int) -> Store:
    most = retries if settings.max_retries is None else min(retries, settings.max_retries)
    arguments: dict[str, Any] = {
        "config": dict(settings.config),
        "client_options": dict(settings.client),
        "retry_config": {
            "max_retries": most,
            "retry_timeout": timedelta(seconds=settings.retry_timeout / 2),
            "backoff": _BACKOFF,
        },
    }
    with naming("open", f"{kind}://{bucket}"):
        try:
            if kind in paths.S3_SCHEMES:
                return S3Store(bucket, **arguments)
            if kind in paths.GOOGLE_SCHEMES:
                return GCSStore(bucket, **arguments)
            return AzureStore.from_url(f"{kind}://{bucket}", **arguments)
        except BaseError as error:
            raise InvalidInputError(
                f"The storage options cannot open {kind}://{bucket}: "
                f"{str(error).partition(chr(10))[0]}"
            ) from error


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
