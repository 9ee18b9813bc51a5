"""Resolves a location given by the user (path or URL) to a `FileIO` and an absolute path."""

import os
from collections.abc import Mapping
from os import PathLike, fspath

from paimon_explore.arguments import mapping, path
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.fileio import paths
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.local import LocalFileIO, absolute_path, local_path

_KNOWN_SCHEMES = ("file", "memory", *sorted(paths.OBJECT_STORE_SCHEMES | paths.HADOOP_SCHEMES))


def resolve(
    location: str | PathLike[str], storage_options: Mapping[str, object] | None = None
) -> tuple[FileIO, str]:
    """Return the storage of a location and the absolute path without a trailing slash.

    Args:
        location: a URL or a local path, which may be relative or start with `~`.
        storage_options: keys, endpoint and other settings of a storage; see `store_options`.

    Raises:
        InvalidInputError: the location is empty, has no bucket or is a file: URL with a host; or a
            storage option is unknown.
        UnsupportedFeatureError: the scheme is not supported.
    """
    if isinstance(location, Mapping):
        raise InvalidInputError(
            "A warehouse must be a path or URL, not a dictionary.",
            hint="Pass the options of a catalog by name: Catalog(**options).",
        )
    text = fspath(path("The location of a table or warehouse", location))
    mapping("storage_options", storage_options or {})
    if not text.strip():
        raise InvalidInputError(
            "The location of a table or warehouse is empty.", hint="Pass a path or a URL."
        )
    kind = paths.scheme(text)
    if kind == "":
        return LocalFileIO(), absolute_path(text)
    if kind == "file":
        _check_host(text)
        return LocalFileIO(), local_path(text).rstrip("/") or "/"
    if kind == "memory":
        from paimon_explore.fileio.memory import MemoryFileIO  # noqa: PLC0415 - rarely used

        name = text.partition("://")[2].partition("/")[0]
        return MemoryFileIO(name or "default"), text.rstrip("/")
    if kind in paths.OBJECT_STORE_SCHEMES:
        _check_authority(kind, text)
        from paimon_explore.fileio.object_store import (  # noqa: PLC0415 - slow import
            ObjectStoreFileIO,
        )
        from paimon_explore.fileio.store_options import (  # noqa: PLC0415 - as above
            option_pairs,
            store_settings,
        )

        options = option_pairs(storage_options)
        bucket = text.partition("://")[2].partition("/")[0]
        if not bucket:
            raise InvalidInputError(
                f"The location {text!r} does not name a bucket.",
                hint=f"Write a location such as {kind}://bucket/folder.",
            )
        store_settings(kind, bucket, options)  # refuses unknown names and wrong values
        return ObjectStoreFileIO(options), text.rstrip("/")
    if kind in paths.HADOOP_SCHEMES:
        from paimon_explore.fileio.hdfs import HdfsFileIO  # noqa: PLC0415 - rarely used
        from paimon_explore.fileio.store_options import option_pairs  # noqa: PLC0415 - as above

        return HdfsFileIO(option_pairs(storage_options)), text.rstrip("/")
    raise UnsupportedFeatureError(
        f"storage scheme {kind!r}", text, hint=f"Supported schemes: {choices(_KNOWN_SCHEMES)}."
    )


def _check_host(location: str) -> None:
    """Check that a URL of a local path is absolute: `file://wr/t` names the host `wr`."""
    _, slashes, rest = location.partition("://")
    host, _, path = rest.partition("/")
    is_drive = os.name == "nt" and host[1:2] == ":"
    if slashes and host not in {"", "localhost"} and not is_drive:
        raise InvalidInputError(
            f"The location {location!r} names the host {host!r}, but file: URLs are local.",
            hint=f"Write an absolute path, such as file:///folder/{path}, or a path without file:.",
        )


def _check_authority(kind: str, location: str) -> None:
    """Check that a location has no credentials, which would become part of the bucket name."""
    authority = location.partition("://")[2].partition("/")[0]
    if "@" in location.partition("://")[2] and ":" in authority.partition("@")[0]:
        raise InvalidInputError(
            f"The location {location!r} contains credentials.",
            hint=f"Use {kind}://bucket/path and pass the keys as storage_options.",
        )
