"""The error tree: grouped by what the one who catches would do.

    PaimonError
      NotFoundError (LookupError)            a catalog object that does not exist
      AlreadyExistsError                     a catalog object that exists already
      InvalidInputError (ValueError)         a bad argument, option, predicate, schema or name
      FormatError (ValueError)               bytes on disk that break the format
        CorruptFileError                     a file whose content breaks a rule
          ResourceLimitError (MemoryError)   a file that unpacks to more than the memory limit
        UnsupportedVersionError              a file of a version that is not known here
      UnsupportedFeatureError (NotImplementedError)   valid in Paimon, not done here
      CommitError                            a commit that did not take effect
        CommitConflictError                  another commit got in the way: plan again
        CommitOutcomeUnknownError            the reply was lost: look before you retry
      SnapshotExpiredError (LookupError)     files of the snapshot being read were removed meanwhile
      StorageError (OSError)                 a storage operation failed
        MissingFileError (FileNotFoundError) a file that was asked for is not there

    PaimonWarning (UserWarning)
      IcebergMetadataWarning                 a commit that leaves Iceberg metadata behind

Every class takes facts and writes its message from them: what failed, where, the rule, what to do
next. Facts may come from tables of other people: in messages secrets are masked and control
characters visible (`sanitize`); attributes such as `path` hold them as they are.
Bytes on disk never raise `InvalidInputError`; arguments never raise `FormatError`.
"""

from collections.abc import Iterable

from paimon_explore.sanitize import shown


def choices(names: Iterable[str], *, limit: int = 20) -> str:
    """Names as a readable list for a message, cut at `limit`."""
    shown = [repr(name) for name in names]
    more = f" and {len(shown) - limit} more" if len(shown) > limit else ""
    return (", ".join(shown[:limit]) or "none") + more


def _fact(value: object) -> str:
    """A fact for a message; Python does not print numbers of thousands of digits."""
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return f"with a number of {value.bit_length()} bits"
    return repr(value)


_MOST_BITS = 128


def suggestion(wanted: object, names: Iterable[str]) -> str:
    """A question that offers the known name most like an unknown one; empty if none is alike."""
    from difflib import get_close_matches  # noqa: PLC0415 - for errors only

    known = {name.lower(): name for name in names}
    near = get_close_matches(str(wanted).lower(), known, n=1, cutoff=0.7)
    return f"Did you mean {known[near[0]]!r}? " if near else ""


def _sentence(text: str) -> str:
    """The text with a capital letter in front."""
    return text[:1].upper() + text[1:]


def _shown_lines(hint: str) -> str:
    """A hint as it is shown; one that starts with a line feed shows a place on lines of its own."""
    if not hint.startswith("\n"):
        return shown(hint)
    return "\n".join(map(shown, hint.split("\n")))


class PaimonError(Exception):
    """Any error raised on purpose by this package.

    Attributes:
        message: what failed, on one line, safe to show.
        hint: what to do next; likewise.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message = shown(message)
        self.hint = _shown_lines(hint)
        gap = "" if hint.startswith("\n") else " "
        super().__init__(f"{self.message}{gap}{self.hint}".strip())

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuild from the attributes: subclasses have constructors of their own."""
        return (_rebuild, (type(self), self.args, self.__dict__))


def safe_cause(error: BaseException) -> BaseException:
    """What to chain an error to: the cause itself, or its text where that must not be shown.

    A traceback prints the texts of causes as they are.
    """
    text = str(error)
    clean = "\n".join([shown(line) for line in text.split("\n")])
    return error if clean == text else RuntimeError(f"{type(error).__name__}: {clean}")


def _rebuild(
    cls: type[PaimonError], args: tuple[object, ...], state: dict[str, object]
) -> PaimonError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class NotFoundError(PaimonError, LookupError):
    """A database, table, snapshot, schema, tag, branch or consumer that does not exist."""

    def __init__(
        self, kind: str, name: object, where: str = "", *, message: str = "", hint: str = ""
    ) -> None:
        self.kind = kind
        self.name = name
        self.where = where
        place = f" in {where}" if where else ""
        super().__init__(
            message or f"{_sentence(kind)} {_fact(name)} does not exist{place}.", hint=hint
        )


class AlreadyExistsError(PaimonError):
    """A database, table, tag or branch that exists already."""

    def __init__(self, kind: str, name: object, where: str = "", *, hint: str = "") -> None:
        self.kind = kind
        self.name = name
        self.where = where
        super().__init__(
            f"{_sentence(kind)} {_fact(name)} already exists{f' in {where}' if where else ''}.",
            hint=hint,
        )


class InvalidInputError(PaimonError, ValueError):
    """An argument, option, predicate, schema or identifier from the caller that cannot be used."""


class FormatError(PaimonError, ValueError):
    """Bytes on disk that break the format."""


class CorruptFileError(FormatError):
    """A file whose content breaks a rule of the format.

    Attributes:
        path: the file.
        where: field, record or byte offset in it.
        rule: what the format demands there.
    """

    def __init__(self, path: str, where: str, rule: str, *, hint: str = "") -> None:
        self.path = path
        self.where = where
        self.rule = rule
        super().__init__(f"{path or 'bytes'}: {where}: {rule}", hint=hint)


class ResourceLimitError(CorruptFileError, MemoryError):
    """A file whose content would take more memory than the process may use for it.

    It may be harmless and just large: the limit can be raised, see `paimon_explore.limits`.

    Attributes:
        what: what was to be decoded.
        size: the bytes it would take; None where that is not known.
        limit: the bytes that are allowed.
    """

    def __init__(
        self, path: str, where: str, what: str, *, size: int | None, limit: int, hint: str = ""
    ) -> None:
        self.what = what
        self.size = size
        self.limit = limit
        needed = "more memory than there is" if size is None else f"{size:,} bytes of memory"
        rule = f"{what} would take {needed}; the limit is {limit:,} bytes."
        super().__init__(path, where, rule, hint=hint)

    def at(self, path: str) -> "ResourceLimitError":
        """The same error with the path of the file."""
        return ResourceLimitError(
            path, self.where, self.what, size=self.size, limit=self.limit, hint=self.hint
        )


class UnsupportedVersionError(FormatError):
    """A file of a version that is not known here; nothing in it is guessed at."""

    def __init__(self, what: str, found: object, known: Iterable[object], path: str = "") -> None:
        self.what = what
        self.found = found
        self.known = tuple(known)
        self.path = path
        super().__init__(
            f"{f'{path}: ' if path else ''}{what} has version {found!r}; "
            f"supported versions: {', '.join(map(str, self.known))}.",
            hint="Use a newer version of paimon_explore.",
        )


class UnsupportedFeatureError(PaimonError, NotImplementedError):
    """Valid in Paimon, not done here."""

    def __init__(self, feature: str, where: str = "", *, hint: str = "") -> None:
        self.feature = feature
        self.where = where
        place = f" ({where})" if where else ""
        super().__init__(f"{_sentence(feature)} is not supported{place}.", hint=hint)


class CommitError(PaimonError):
    """A commit that did not take effect."""


class CommitConflictError(CommitError):
    """Another commit got in the way; the work must be planned again on the new snapshot."""


class CommitOutcomeUnknownError(CommitError):
    """The storage gave no answer to the decisive step: look for the commit before retrying."""


class SnapshotExpiredError(PaimonError, LookupError):
    """Files of the snapshot being read were removed because the snapshot expired."""


class StorageError(PaimonError, OSError):
    """A storage operation that failed."""

    def __init__(self, operation: str, path: str, reason: str, *, hint: str = "") -> None:
        self.operation = operation
        self.path = path
        self.reason = reason
        end = "." if hint and not reason.endswith(".") else ""
        super().__init__(f"Cannot {operation} {path}: {reason}{end}", hint=hint)


class MissingFileError(StorageError, FileNotFoundError):
    """A file that was asked for is not there."""

    def __init__(self, operation: str, path: str, *, hint: str = "") -> None:
        super().__init__(operation, path, "no such file", hint=hint)


class PaimonWarning(UserWarning):
    """Any warning about what a table does not get from this package."""


class IcebergMetadataWarning(PaimonWarning):
    """A commit to a table whose Iceberg metadata is not written here and so goes stale."""
