"""Object stores: S3 and compatible stores (MinIO, OSS, Ceph), Google Cloud Storage, Azure.

`create` is one conditional put (`If-None-Match: *`). For endpoints other than Amazon's, support of
conditional puts is verified before the first one. Object stores have no folders: a folder exists if
an object below it exists, and renaming a folder copies its objects. An empty folder is represented
by an empty object with a hidden name. New data files are written to the local disk and uploaded
when complete, so that a failed writer leaves no object.

Requests that fail with a transient error are retried with backoff within `retry_timeout` (see
`store_options`). Reads, lists, deletes and unconditional puts are idempotent. If the response of a
conditional put was lost, the object is read before a retry: if it has the content of this call,
this call has created it.
"""

import builtins
import tempfile
import threading
import uuid
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from datetime import timedelta
from functools import lru_cache, partial
from pathlib import Path
from shutil import rmtree
from struct import Struct
from typing import Any, TypeAlias

import obstore
import pyarrow as pa
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    GenericError,
    NotFoundError,
    PreconditionError,
)
from obstore.store import AzureStore, GCSStore, S3Store

from paimon_explore.errors import (
    InvalidInputError,
    MissingFileError,
    StorageError,
    UnsupportedFeatureError,
)
from paimon_explore.fileio import paths
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.fileio.disk_cache import DiskCache
from paimon_explore.fileio.file_io import FileStatus, translate_stream_errors
from paimon_explore.fileio.object_reader import Part, open_object
from paimon_explore.fileio.store_options import (
    StoreSettings,
    max_requests_of,
    store_settings,
)
from paimon_explore.fileio.store_retries import (
    Attempts,
    RequestRetryPolicy,
    is_transient,
    is_write_conflict,
    retry,
    translate_errors,
)
from paimon_explore.fileio.uploads import Uploads
from paimon_explore.fileio.versioned_reads import CONTENTS
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.threads import free_in_forks, in_forks

Store: TypeAlias = S3Store | GCSStore | AzureStore
Options: TypeAlias = tuple[tuple[str, str], ...]

_DELETE_BATCH = 1000
"""Maximum number of objects that a request of S3 deletes."""
_FOLDER_MARKER = ".folder"
_CLIENT_RETRIES = 3
_BACKOFF = {
    "init_backoff": timedelta(milliseconds=50),
    "max_backoff": timedelta(seconds=2),
    "base": 2,
}
_SIZE = Struct(">Q")
_PROBING = free_in_forks(threading.Lock())
_TAIL_BYTES = 64 << 10
"""Bytes read from the end of a large file when it is opened; most footers are smaller."""
_VERIFIED_BUCKETS: set[tuple[str, Options]] = set()
"""Buckets with their settings for which conditional puts were verified."""
_USED_BY_PARENT: list[bool] = []
"""Not empty in a fork of a process with clients of buckets, whose requests would never end."""
_FORKED = "the client of object stores does not work in a fork of a process that has used it"
_HOW_TO_START = "Start processes with multiprocessing.get_context('spawn')."
_OVERWRITING_BUCKETS: set[tuple[str, Options]] = set()
"""Buckets with their settings that ignore the condition of a put."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A client of a bucket with its settings.

    Attributes:
        store: the client, which retries idempotent requests a few times itself.
        policy: the retry policy of failing requests.
        endpoint: the endpoint, if not the default of the provider.
        small_file_bytes: size up to which a file is read as a whole.
        cache: copies of files on the local disk, if configured.
        deletes_batches: whether one request can delete many objects.
    """

    store: Store
    policy: RequestRetryPolicy
    endpoint: str
    small_file_bytes: int
    cache: DiskCache | None
    deletes_batches: bool

    def cached(self, path: str, part: str, fetch: Callable[[], bytes]) -> bytes:
        """Return a part of a file from the cache, or fetch it."""
        if self.cache is None:
            return fetch()
        return self.cache.get(f"{self.endpoint} {path}", part, fetch)


@dataclass(frozen=True, slots=True)
class ObjectStoreFileIO:
    """Objects of all buckets with the same settings.

    Attributes:
        options: settings as sorted pairs, with names of Paimon (`s3.access-key`, `s3.endpoint`) or
            obstore (`access_key_id`, `endpoint`); missing settings are taken from the environment
            (`AWS_...`, `GOOGLE_...`, `AZURE_...`).
        locked: whether callers of `create` hold a lock where it matters, so that a store without
            conditional puts can be used: there `create` checks that the key is free, then puts.
        uploads: runs the uploads of new files in the background; see `uploads.uploading`.
    """

    options: Options = ()
    locked: bool = False
    uploads: Uploads | None = field(default=None, compare=False, repr=False)

    def with_uploads(self, uploads: Uploads) -> "ObjectStoreFileIO":
        """Return the same storage with uploads of new files in the background."""
        return replace(self, uploads=uploads)

    @property
    def max_requests(self) -> int:
        """How many requests are sent at the same time; see `concurrent_requests`."""
        return max_requests_of(self.options)

    def read(self, path: str) -> bytes:
        """Return the content of an object."""
        return self._get(path)

    def read_version(self, path: str, etag: str) -> bytes:
        """Return the current content of an object that was listed with an entity tag."""
        known = CONTENTS.find((self, path), etag)
        return known if known is not None else self._get(path)

    def read_immutable(self, path: str) -> bytes:
        """Return the content of an object whose name is used once; small ones are cached."""
        known = CONTENTS.find((self, path), None)
        return known if known is not None else self._get(path)

    def _get(self, path: str) -> bytes:
        """Read an object, and keep the content of a small one for reads of the same version."""
        bucket, key = self._locate(path)

        def request() -> tuple[str | None, bytes]:
            found = obstore.get(bucket.store, key)
            return found.meta["e_tag"], bytes(found.bytes())

        def fetch() -> bytes:
            with translate_errors("read", path):
                tag, data = retry(bucket.policy, request)
            CONTENTS.keep((self, path), tag, data)
            return data

        return bucket.cached(path, "whole", fetch)

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Return the bytes [offset, offset + length) of an object; fewer at its end."""
        if not length:
            return b""
        bucket, key = self._locate(path)

        def request() -> bytes:
            return bytes(obstore.get_range(bucket.store, key, start=offset, length=length))

        def fetch() -> bytes:
            with translate_errors("read", path):
                return retry(bucket.policy, request)

        return bucket.cached(path, f"{offset} {length}", fetch)

    def open(self, path: str) -> pa.NativeFile:
        """Open an object for random access; the caller closes it.

        The end of the object is read in the request that finds out its size.
        """
        bucket, key = self._locate(path)
        with translate_errors("open", path):
            found = self._size_and_tail(path)
            if found is not None:
                return open_object(partial(self.read_range, path), *found)
            size = int(retry(bucket.policy, lambda: obstore.head(bucket.store, key))["size"])
        return open_object(partial(self.read_range, path), size)

    def open_sized(self, path: str, size: int) -> pa.NativeFile:
        """Open an object whose size is known; a small one is read as a whole in one request."""
        bucket, _ = self._locate(path)
        if size <= bucket.small_file_bytes:
            data = self.read(path)
            return open_object(partial(self.read_range, path), len(data), [(0, data)])
        return self.open(path)

    def _size_and_tail(self, path: str) -> tuple[int, builtins.list[Part]] | None:
        """Return the size of an object and its last bytes; None if the store cannot tell both."""
        if _parts(path)[0] in paths.AZURE_SCHEMES:
            return None
        bucket, key = self._locate(path)

        def request() -> bytes:
            found = obstore.get(bucket.store, key, options={"range": {"suffix": _TAIL_BYTES}})
            return _SIZE.pack(found.meta["size"]) + bytes(found.bytes())

        try:
            found = bucket.cached(path, "tail", lambda: retry(bucket.policy, request))
            size, tail = _SIZE.unpack_from(found)[0], found[_SIZE.size :]
            return size, [(size - len(tail), tail)]
        except GenericError as error:
            if is_transient(error):
                raise
            return None  # an empty object, or a store without such ranges

    def status(self, path: str) -> FileStatus:
        """Return the metadata of an object, or of a folder if objects exist below the path."""
        bucket, key = self._locate(path)
        with translate_errors("access", path):
            try:
                found = retry(bucket.policy, lambda: obstore.head(bucket.store, key))
            except (FileNotFoundError, NotFoundError):
                if not self._has_objects_below(path):
                    raise
                return FileStatus(path=path, is_folder=True)
            return _file(path, found["size"], found["last_modified"].timestamp())

    def exists(self, path: str) -> bool:
        """Return whether an object or a folder exists."""
        try:
            self.status(path)
        except MissingFileError:
            return False
        return True

    def list(self, folder: str) -> builtins.list[FileStatus]:
        """List a folder, sorted by name; empty if it does not exist."""
        bucket, key = self._locate(folder)
        prefix = _prefix(key)
        with translate_errors("list", folder):
            found = retry(bucket.policy, lambda: obstore.list_with_delimiter(bucket.store, prefix))
        folders = [_full_path(folder, key, inner) for inner in found["common_prefixes"]]
        statuses = [FileStatus(path=path, is_folder=True) for path in folders]
        for item in found["objects"]:
            path = _full_path(folder, key, item["path"])
            modified = item["last_modified"].timestamp()
            statuses.append(_file(path, item["size"], modified, item["e_tag"]))
        return sorted(statuses, key=lambda status: status.name)

    def walk(self, folder: str) -> Iterator[FileStatus]:
        """Yield all objects below a path, in no particular order.

        If a page of the listing fails, the listing continues after the last object received.
        """
        bucket, key = self._locate(folder)
        attempts = Attempts(bucket.policy)
        last: str | None = None
        in_order = True
        while True:
            try:
                with translate_errors("list", folder):
                    for page in obstore.list(bucket.store, _prefix(key), offset=last):
                        attempts.succeeded()
                        for item in page:
                            in_order = in_order and (last is None or last < item["path"])
                            last = item["path"]
                            path = _full_path(folder, key, item["path"])
                            yield _file(path, item["size"], item["last_modified"].timestamp())
            except StorageError as error:
                cause = error.__cause__
                if not in_order or not isinstance(cause, BaseError) or not is_transient(cause):
                    raise
                with translate_errors("list", folder):
                    attempts.failed(cause)
            else:
                return

    def create(self, path: str, data: bytes) -> bool:
        """Create an object atomically by a conditional put; False if the key already exists.

        If a response was lost, the content of the object tells whether this call created it.
        """
        bucket, key = self._locate(path)
        with translate_errors("create", path):
            if self.locked and self._ignores_conditions(bucket, path, key):
                return self._put_if_free(bucket, key, data)
            self._check_conditional_put(bucket, path, key)
            return self._put_new(path, data)

    def replace(self, path: str, data: bytes) -> None:
        """Create or replace an object."""
        bucket, key = self._locate(path)
        with translate_errors("replace", path):
            retry(bucket.policy, lambda: obstore.put(bucket.store, key, data))

    @contextmanager
    def create_stream(self, path: str) -> Iterator[pa.NativeFile]:
        """Open a new object for writing; it is uploaded after the block, unless this raises."""
        folder = Path(tempfile.mkdtemp(prefix="paimon-upload-"))
        part = folder / "part"
        upload = partial(self._upload, path, part)
        try:
            with translate_stream_errors(path), pa.OSFile(str(part), "wb") as stream:
                yield stream
            if self.uploads is not None:
                self.uploads.add(partial(_then_remove, folder, upload), part.stat().st_size)
                return
        except BaseException:
            rmtree(folder, ignore_errors=True)
            raise
        _then_remove(folder, upload)

    def _upload(self, path: str, part: Path) -> None:
        bucket, key = self._locate(path)
        with translate_errors("create", path):
            retry(bucket.policy, lambda: obstore.put(bucket.store, key, part))

    def delete(self, path: str) -> None:
        """Delete an object, if it exists."""
        if self.uploads is not None:
            self.uploads.settle()
        bucket, key = self._locate(path)
        with translate_errors("delete", path), suppress(FileNotFoundError, NotFoundError):
            retry(bucket.policy, lambda: obstore.delete(bucket.store, key))

    def delete_files(self, files: Iterable[str]) -> None:
        """Delete objects, if they exist, in no particular order; many by one request of S3."""
        if self.uploads is not None:
            self.uploads.settle()
        buckets: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for path in files:
            buckets[_parts(path)[:2]].append(path)
        for parts, some in buckets.items():
            size = _DELETE_BATCH if _bucket(*parts, self.options).deletes_batches else 1
            batches = [some[first : first + size] for first in range(0, len(some), size)]
            at_once(self, [partial(self._delete_batch, batch) for batch in batches])

    def _delete_batch(self, files: Sequence[str]) -> None:
        """Delete objects of a bucket by one request, or each by its own if the store refuses it."""
        if len(files) > 1:
            bucket, _ = self._locate(files[0])
            keys = [_parts(path)[2] for path in files]
            with suppress(BaseError, OSError):
                obstore.delete(bucket.store, keys)
                return
        at_once(self, [partial(self.delete, path) for path in files])

    def delete_folder(self, path: str) -> None:
        """Delete all objects below a path; also those that others create meanwhile."""
        deleted: set[str] = set()
        while found := self._paths_below(path, deleted):
            self.delete_files(found)
            deleted.update(found)

    def rename_folder(self, source: str, target: str) -> None:
        """Copy all objects below a path, then delete the originals; not atomic.

        Objects that others create meanwhile are moved as well.
        """
        bucket, _ = self._locate(source)
        moved: set[str] = set()

        def copy(path: str) -> None:
            new_path = paths.join(target, path[len(source.rstrip("/")) :])
            old, new = self._locate(path)[1], self._locate(new_path)[1]
            retry(bucket.policy, lambda: obstore.copy(bucket.store, old, new))

        while found := self._paths_below(source, moved):
            with translate_errors("rename", source):
                at_once(self, [partial(copy, path) for path in found])
            self.delete_files(found)
            moved.update(found)
        if not moved:
            raise MissingFileError("rename", source)

    def _paths_below(self, folder: str, done: Container[str]) -> Sequence[str]:
        return [status.path for status in self.walk(folder) if status.path not in done]

    def make_folder(self, path: str) -> None:
        """Create a folder by an empty object with a hidden name."""
        self.create(paths.join(path, _FOLDER_MARKER), b"")

    def _locate(self, path: str) -> tuple[Bucket, str]:
        if _USED_BY_PARENT:
            raise StorageError("access", path, _FORKED, hint=_HOW_TO_START)
        kind, bucket, key = _parts(path)
        return _bucket(kind, bucket, self.options), key

    def _put_new(self, path: str, data: bytes) -> bool:
        """Put an object if its key does not exist; True if this call created it."""
        bucket, key = self._locate(path)
        once = _store_without_retries(*_parts(path)[:2], self.options)
        unsure = False

        def request() -> bool:
            nonlocal unsure
            existing = _content(bucket.store, key) if unsure else None
            if existing is not None:
                return existing == data
            try:
                made = obstore.put(once, key, data, mode="create", use_multipart=False)
                CONTENTS.keep((self, path), made["e_tag"], data)
            except (AlreadyExistsError, PreconditionError) as error:
                if not unsure and not is_write_conflict(error):
                    return False
                existing = _content(bucket.store, key)
                if existing is None:  # deleted meanwhile, or still undecided
                    raise
                return unsure and existing == data
            except BaseError as error:
                unsure = unsure or is_transient(error)
                raise
            return True

        return retry(bucket.policy, request)

    def _check_conditional_put(self, bucket: Bucket, path: str, key: str) -> None:
        """Verify once per bucket that a store other than Amazon's supports conditional puts.

        Raises:
            UnsupportedFeatureError: the store overwrites existing objects; of two concurrent
                commits one would be lost.
        """
        if self._ignores_conditions(bucket, path, key):
            raise UnsupportedFeatureError(
                f"a commit to the object store at {bucket.endpoint}, which ignores conditional "
                "puts (If-None-Match: *) and overwrites existing objects,",
                path,
                hint="Concurrent commits would be lost. Use the table read-only, use a store that "
                "supports conditional puts, or a catalog with locks.",
            )

    def _ignores_conditions(self, bucket: Bucket, path: str, key: str) -> bool:
        """Return whether the store overwrites existing objects; asks each bucket once."""
        kind, name, _ = _parts(path)
        store_key = (name, self.options)
        if store_key in _VERIFIED_BUCKETS or kind not in paths.S3_SCHEMES or not bucket.endpoint:
            return False
        if "amazonaws.com" in bucket.endpoint:
            return False
        with _PROBING:  # requests that need the answer may run at the same time
            if store_key not in _VERIFIED_BUCKETS | _OVERWRITING_BUCKETS:
                self._probe(bucket, path, key)
            return store_key in _OVERWRITING_BUCKETS

    def _probe(self, bucket: Bucket, path: str, key: str) -> None:
        """Find out whether a conditional put replaces an existing object."""
        kind, name, _ = _parts(path)
        store_key = (name, self.options)
        probe = f"{key.rpartition('/')[0]}/.probe-{uuid.uuid4()}".lstrip("/")
        retry(bucket.policy, lambda: obstore.put(bucket.store, probe, b""))
        overwrites = retry(
            bucket.policy, lambda: _overwrites(_store_without_retries(kind, *store_key), probe)
        )
        with suppress(BaseError):  # an empty hidden object does no harm
            obstore.delete(bucket.store, probe)
        (_OVERWRITING_BUCKETS if overwrites else _VERIFIED_BUCKETS).add(store_key)

    def _put_if_free(self, bucket: Bucket, key: str, data: bytes) -> bool:
        """Put an object if its key is free; the caller holds a lock."""
        existing = retry(bucket.policy, lambda: _content(bucket.store, key))
        if existing is not None:
            return False
        retry(bucket.policy, lambda: obstore.put(bucket.store, key, data))
        return True

    def _has_objects_below(self, path: str) -> bool:
        bucket, key = self._locate(path)
        prefix = _prefix(key)
        found = retry(bucket.policy, lambda: obstore.list_with_delimiter(bucket.store, prefix))
        return bool(found["common_prefixes"] or found["objects"])


def _then_remove(folder: Path, upload: Callable[[], None]) -> None:
    """Upload a file, then remove its temporary folder."""
    try:
        upload()
    finally:
        rmtree(folder, ignore_errors=True)


def _parts(path: str) -> tuple[str, str, str]:
    """Split a path into scheme, bucket and key."""
    kind = paths.scheme(path)
    bucket, _, key = path.partition("://")[2].partition("/")
    if kind not in paths.OBJECT_STORE_SCHEMES or not bucket:
        raise InvalidInputError(
            f"{path!r} is not a location in an object store.",
            hint="Write a location such as s3://bucket/folder.",
        )
    return kind, bucket, key.rstrip("/")


def _content(store: Store, key: str) -> bytes | None:
    """Return the content of an object; None if it does not exist."""
    try:
        return bytes(obstore.get(store, key).bytes())
    except (FileNotFoundError, NotFoundError):
        return None


def _overwrites(store: Store, key: str) -> bool:
    """Return whether a conditional put replaces an existing object."""
    try:
        obstore.put(store, key, b"", mode="create", use_multipart=False)
    except (AlreadyExistsError, PreconditionError):
        return False
    return True


@lru_cache(maxsize=32)
def _bucket(kind: str, bucket: str, options: Options) -> Bucket:
    settings = store_settings(kind, bucket, options)
    store = _store(kind, bucket, settings, retries=_CLIENT_RETRIES)
    policy = RequestRetryPolicy(
        timeout=settings.retry_timeout,
        max_retries=settings.max_retries,
        store_key=(kind, bucket, options),
    )
    return Bucket(
        store=store,
        policy=policy,
        endpoint=settings.config.get("endpoint", ""),
        small_file_bytes=settings.small_file_bytes,
        cache=settings.cache,
        deletes_batches=(
            kind in paths.S3_SCHEMES and settings.config.get("disable_bulk_delete") != "true"
        ),
    )


def _note_fork() -> None:
    if _bucket.cache_info().misses:
        _USED_BY_PARENT.append(True)


in_forks(_note_fork)


@lru_cache(maxsize=32)
def _store_without_retries(kind: str, bucket: str, options: Options) -> Store:
    """Return a client of a bucket that does not retry requests."""
    return _store(kind, bucket, store_settings(kind, bucket, options), retries=0)


def _store(kind: str, bucket: str, settings: StoreSettings, *, retries: int) -> Store:
    max_retries = retries if settings.max_retries is None else min(retries, settings.max_retries)
    arguments: dict[str, Any] = {
        "config": dict(settings.config),
        "client_options": dict(settings.client),
        "retry_config": {
            "max_retries": max_retries,
            "retry_timeout": timedelta(seconds=settings.retry_timeout / 2),
            "backoff": _BACKOFF,
        },
    }
    with translate_errors("open", f"{kind}://{bucket}"):
        try:
            if kind in paths.S3_SCHEMES:
                return S3Store(bucket, **arguments)
            if kind in paths.GOOGLE_SCHEMES:
                return GCSStore(bucket, **arguments)
            return AzureStore.from_url(f"{kind}://{bucket}", **arguments)
        except BaseError as error:
            raise InvalidInputError(
                f"Cannot open {kind}://{bucket} with the given storage options: "
                f"{str(error).partition(chr(10))[0]}"
            ) from error


def _prefix(key: str) -> str | None:
    return f"{key}/" if key else None


def _full_path(folder: str, key: str, found: str) -> str:
    """Return the full path of a listed key, with the scheme and bucket of the folder."""
    return paths.join(folder, found[len(key) :])


def _file(path: str, size: int, modified_seconds: float, etag: str | None = None) -> FileStatus:
    modified_ms = int(modified_seconds * 1000)
    return FileStatus(path=path, size=size, modified_ms=modified_ms, etag=etag)
