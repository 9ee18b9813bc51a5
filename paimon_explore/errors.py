"""Exceptions and warnings of this package, grouped by how a caller would handle them.

    PaimonError
      NotFoundError (LookupError)            a catalog object that does not exist
      AlreadyExistsError                     a catalog object that exists already
      InvalidInputError (ValueError)         a bad argument, option, predicate, schema or name
      FormatError (ValueError)               bytes on disk that break the format
        CorruptFileError                     a file whose content breaks a rule
          ResourceLimitError (MemoryError)   a file that decodes to more than the memory limit
        UnsupportedVersionError              a file whose format version is not supported
      UnsupportedFeatureError (NotImplementedError)   valid in Paimon, not implemented here
      CommitError                            a commit that did not take effect
        CommitConflictError                  a concurrent commit conflicts: plan again
        CommitOutcomeUnknownError            the response was lost: check before you retry
      SnapshotExpiredError (LookupError)     files of the snapshot were removed during the read
      StreamError                            a stream of changes that cannot go on
        StreamRollbackError                  the commits that it has read were rolled back
        StreamSchemaError                    columns that it reads were dropped or changed
        ConsumerConflictError                something else moved the position of its consumer
      StorageError (OSError)                 a storage operation failed
        MissingFileError (FileNotFoundError) a file does not exist
        InvalidResponseError                 a server answered what its protocol does not allow
      AccessDeniedError (PermissionError)    a server refused the credentials, or the permission

    PaimonWarning (UserWarning)
      IcebergMetadataWarning                 Iceberg metadata that is incomplete or not written
      CatalogSyncWarning                     a commit whose partitions did not reach the catalog
      UnsupportedOptionWarning               an option was set that this package refuses

Each class builds its message from facts: what failed, where, which rule, what to do next. Facts may
come from untrusted tables, so messages mask secrets and escape control characters (`sanitize`);
attributes such as `path` keep the original value.
Bytes on disk never raise `InvalidInputError`; arguments never raise `FormatError`.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from paimon_explore.sanitize import sanitized


def choices(names: Iterable[str], *, limit: int = 20) -> str:
    """Return names as a readable list for a message, truncated to `limit` names."""
    quoted = [repr(name) for name in names]
    more = f" and {len(quoted) - limit} more" if len(quoted) > limit else ""
    return (", ".join(quoted[:limit]) or "none") + more


def _fact(value: object) -> str:
    """Return the `repr` of a value; huge integers, which Python refuses to print, by their size."""
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return f"with a number of {value.bit_length()} bits"
    return repr(value)


_MAX_BITS = 128

_PREDICATES = ("must ", "is ", "has ", "cannot ", "contains ", "extends ")
"""First words of the rules of `CorruptFileError` that continue the name of a field or part."""


def suggestion(wanted: object, names: Iterable[str]) -> str:
    """Return "Did you mean …?" with the known name closest to `wanted`; "" if none is close."""
    from difflib import get_close_matches  # noqa: PLC0415 - for errors only

    known = {name.lower(): name for name in names}
    near = get_close_matches(str(wanted).lower(), known, n=1, cutoff=0.7)
    return f"Did you mean {known[near[0]]!r}? " if near else ""


def _sentence(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def _sanitized_lines(hint: str) -> str:
    """Sanitize a hint; one that starts with a line feed keeps its line breaks."""
    if not hint.startswith("\n"):
        return sanitized(hint)
    return "\n".join(map(sanitized, hint.split("\n")))


class PaimonError(Exception):
    """Base class of all errors that this package raises deliberately.

    Attributes:
        message: what failed, on one line, sanitized.
        hint: what to do next, sanitized.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message = sanitized(message)
        self.hint = _sanitized_lines(hint)
        gap = "" if hint.startswith("\n") else " "
        super().__init__(f"{self.message}{gap}{self.hint}".strip())

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by attributes, because subclasses have different constructors."""
        return (_rebuild, (type(self), self.args, self.__dict__))


@contextmanager
def undo_on_error(undo: Callable[..., object], *arguments: object) -> Iterator[None]:
    """Call a function if the statements in the context fail, also if they are interrupted."""
    try:
        yield
    except BaseException:
        undo(*arguments)
        raise


def safe_cause(error: BaseException) -> BaseException:
    """Return the exception for `raise … from`: the cause, or a copy with a sanitized message.

    Tracebacks print the messages of causes unchanged.
    """
    text = str(error)
    clean = "\n".join([sanitized(line) for line in text.split("\n")])
    return error if clean == text else RuntimeError(f"{type(error).__name__}: {clean}")


def _rebuild(
    cls: type[PaimonError], args: tuple[object, ...], state: dict[str, object]
) -> PaimonError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class NotFoundError(PaimonError, LookupError):
    """A database, table, snapshot, schema, tag, branch or consumer does not exist."""

    def __init__(
        self, kind: str, name: object, where: str = "", *, message: str = "", hint: str = ""
    ) -> None:
        self.kind = kind
        self.name = name
        self.where = where
        location = f" in {where}" if where else ""
        super().__init__(
            message or f"{_sentence(kind)} {_fact(name)} does not exist{location}.", hint=hint
        )


class AlreadyExistsError(PaimonError):
    """A database, table, tag or branch already exists."""

    def __init__(self, kind: str, name: object, where: str = "") -> None:
        self.kind = kind
        self.name = name
        self.where = where
        super().__init__(
            f"{_sentence(kind)} {_fact(name)} already exists{f' in {where}' if where else ''}."
        )


class InvalidInputError(PaimonError, ValueError):
    """An argument, option, predicate, schema or identifier from the caller is invalid."""


class FormatError(PaimonError, ValueError):
    """Bytes on disk violate the format."""


class CorruptFileError(FormatError):
    """The content of a file violates a rule of the format.

    Attributes:
        path: the file.
        where: the field, record or byte offset in the file.
        rule: what the format requires there; a sentence, or a predicate of `where` ("must be …").
    """

    _problem = "Corrupt data"

    def __init__(self, path: str, where: str, rule: str, *, hint: str = "") -> None:
        self.path = path
        self.where = where
        self.rule = rule
        location = f"{self._problem} in {path}" if path else self._problem
        found = f": {where} {rule}" if rule.startswith(_PREDICATES) else f", {where}: {rule}"
        end = "" if rule.endswith((".", "?")) else "."
        super().__init__(f"{location}{found}{end}", hint=hint)


class ResourceLimitError(CorruptFileError, MemoryError):
    """Decoding a file would take more memory than the limit (see `paimon_explore.limits`).

    The file may be valid but large; raise the limit to read it.

    Attributes:
        what: the part that was being decoded.
        size: the number of bytes it needs; None if unknown.
        limit: the number of bytes allowed.
    """

    _problem = "Memory limit exceeded"

    def __init__(
        self, path: str, where: str, what: str, *, size: int | None, limit: int, hint: str = ""
    ) -> None:
        self.what = what
        self.size = size
        self.limit = limit
        needed = "more than the available memory" if size is None else f"at least {size:,} bytes"
        rule = f"{what} would take {needed}; the limit is {limit:,} bytes."
        super().__init__(path, where, rule, hint=hint)

    def at(self, path: str) -> "ResourceLimitError":
        """Return a copy of the error with the path of the file."""
        return ResourceLimitError(
            path, self.where, self.what, size=self.size, limit=self.limit, hint=self.hint
        )


class UnsupportedVersionError(FormatError):
    """A file has a format version that this package does not support."""

    def __init__(self, what: str, found: object, known: Iterable[object], path: str = "") -> None:
        self.what = what
        self.found = found
        self.known = tuple(known)
        self.path = path
        super().__init__(
            f"{_sentence(what)}{f' {path}' if path else ''} has version {found!r}; "
            f"supported versions: {', '.join(map(str, self.known))}.",
            hint="Use a newer version of paimon_explore.",
        )


class UnsupportedFeatureError(PaimonError, NotImplementedError):
    """A feature that is valid in Paimon but not implemented here."""

    def __init__(self, feature: str, where: str = "", *, hint: str = "") -> None:
        self.feature = feature
        self.where = where
        location = f" ({where})" if where else ""
        super().__init__(f"{_sentence(feature)} is not supported{location}.", hint=hint)


@contextmanager
def needs_extra(extra: str, what: str, path: str = "") -> Iterator[None]:
    """Name the extra of this package to install if an import in the block fails.

    Args:
        extra: the extra that installs the package.
        what: the operation, such as `reading vortex files`.
        path: the file, or empty.

    Raises:
        UnsupportedFeatureError: the package is not installed.
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "paimon_explore":
            raise
        missing = f"{what} without the package {error.name or error}"
        hint = f"Run: pip install 'paimon-explore[{extra}]'"
        raise UnsupportedFeatureError(missing, path, hint=hint) from error


class CommitError(PaimonError):
    """A commit did not take effect."""


PLAN_AGAIN = "Read the latest snapshot and repeat the change."


class CommitConflictError(CommitError):
    """A concurrent commit conflicts; repeat the change on the latest snapshot."""

    def __init__(self, message: str, *, hint: str = PLAN_AGAIN) -> None:
        super().__init__(message, hint=hint)


class CommitOutcomeUnknownError(CommitError):
    """The storage did not confirm the commit: check whether it took effect before retrying."""


class SnapshotExpiredError(PaimonError, LookupError):
    """The snapshot being read expired and its files were removed."""


class StreamError(PaimonError):
    """A stream of changes cannot go on; see the message for what to do.

    Attributes:
        position: the snapshot whose changes would have been read next.
    """

    def __init__(self, message: str, *, position: int, hint: str = "") -> None:
        self.position = position
        super().__init__(message, hint=hint)


class StreamRollbackError(StreamError):
    """Commits that a stream has read were rolled back, or the table was created anew."""


class StreamSchemaError(StreamError):
    """Columns that a stream reads were dropped, renamed, or got another type."""


class ConsumerConflictError(StreamError):
    """Another stream, or a person, moved the position of a stream's consumer."""


class StorageError(PaimonError, OSError):
    """A storage operation failed."""

    def __init__(self, operation: str, path: str, reason: str, *, hint: str = "") -> None:
        self.operation = operation
        self.path = path
        self.reason = reason
        end = "." if hint and not reason.endswith(".") else ""
        super().__init__(f"Cannot {operation} {path}: {reason}{end}", hint=hint)


class MissingFileError(StorageError, FileNotFoundError):
    """A file does not exist."""

    def __init__(self, operation: str, path: str, *, hint: str = "") -> None:
        super().__init__(operation, path, "no such file", hint=hint)


class InvalidResponseError(StorageError):
    """A server answered something that its protocol does not allow."""


class AccessDeniedError(PaimonError, PermissionError):
    """A server refused the credentials, or the permission for an operation.

    Attributes:
        operation: what was refused.
        path: the URL of the request, or the name of the object.
        reason: the answer of the server.
    """

    def __init__(self, operation: str, path: str, reason: str, *, hint: str = "") -> None:
        self.operation = operation
        self.path = path
        self.reason = reason
        end = "." if hint and not reason.endswith(".") else ""
        super().__init__(f"Cannot {operation} at {path}: {reason}{end}", hint=hint)


class PaimonWarning(UserWarning):
    """Base class of warnings about table features that this package does not maintain."""


class IcebergMetadataWarning(PaimonWarning):
    """The Iceberg metadata of a table is incomplete, or was not written or registered."""


class UnsupportedOptionWarning(PaimonWarning):
    """An option was set that this package refuses where it matters; other engines may follow it."""


class CatalogSyncWarning(PaimonWarning):
    """A commit took effect, but the catalog did not accept its partitions or tags."""
