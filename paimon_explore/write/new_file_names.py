"""Names and paths of new files.

Data files are created in their bucket's directory, or with the option `data-file.external-paths` in
external directories; their manifest entries then contain the whole path.

Spec: concepts/spec/datafile; maintenance/configurations, `data-file.external-paths*`.
"""

import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import field
from itertools import count, pairwise
from uuid import uuid4

from paimon_explore.errors import InvalidInputError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.paths import join
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_enums import ExternalPathStrategy
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.path_safety import checked_name
from paimon_explore.write.file_layout import FileLayout

Clock = Callable[[], int]
"""Epoch milliseconds."""
FileRow = dict[str, object]
"""The columns of a manifest entry by name, without partition and bucket."""

_ENTROPY_OFFSETS = (0, 4, 8, 12, 20)


@dataclass(slots=True, kw_only=True)
class FileNames:
    """Generates names of one bucket's new files from a random part and a shared counter."""

    unique: str = field(default_factory=lambda: str(uuid4()))
    numbers: "count[int]" = field(default_factory=count)

    def next(self, layout: FileLayout) -> str:
        """Return a new unique name.

        Raises:
            InvalidInputError: the prefix (an option or the commit user) makes the name a path.
        """
        name = f"{layout.prefix}{self.unique}-{next(self.numbers)}.{layout.extension}"
        return checked_name("data file", name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalFolders:
    """External directories for the data files of a table.

    Attributes:
        roots: the directories.
        weights: relative number of files of each directory.
        entropy: whether files are spread over subdirectories by a hash of their name, which avoids
            hot spots in object stores.
    """

    roots: tuple[str, ...]
    weights: tuple[int, ...]
    entropy: bool = False

    def path(self, below: str, name: str, turn: int) -> str:
        """Return the path of a file.

        Args:
            below: directory of the file, relative to the root.
            name: name of the file.
            turn: number of the file in its writer.
        """
        if len(set(self.weights)) > 1:
            (root,) = random.choices(self.roots, self.weights)  # noqa: S311 - spreads files
        else:
            root = self.roots[turn % len(self.roots)]
        folder = join(root, below) if below else root
        return join(join(folder, _entropy(name)) if self.entropy else folder, name)


def _entropy(name: str) -> str:
    bits = f"{zlib.crc32(name.encode()) & 0xFFFFF:020b}"
    return "/".join(bits[a:b] for a, b in pairwise(_ENTROPY_OFFSETS))


def external_folders(options: TableOptions) -> ExternalFolders | None:
    """Return the configured external directories; None if files are stored in the table.

    Raises:
        InvalidInputError: the options are invalid or contradict each other.
    """
    roots = options.value(opt.DATA_FILE_EXTERNAL_PATHS)
    strategy = options.value(opt.DATA_FILE_EXTERNAL_PATHS_STRATEGY)
    if not roots or strategy is ExternalPathStrategy.NONE:
        return None
    for root in roots:
        if "://" not in root and not root.startswith("file:/"):
            key = opt.DATA_FILE_EXTERNAL_PATHS.key
            raise InvalidInputError(
                f"Option {key!r} contains {root!r}, which has no scheme.",
                hint="Use a URI such as s3://bucket/path or file:///path.",
            )
    if strategy is ExternalPathStrategy.SPECIFIC_FS:
        scheme = options.value(opt.DATA_FILE_EXTERNAL_PATHS_SPECIFIC_FS)
        if not scheme:
            key = opt.DATA_FILE_EXTERNAL_PATHS_SPECIFIC_FS.key
            strategy_key = opt.DATA_FILE_EXTERNAL_PATHS_STRATEGY.key
            raise InvalidInputError(
                f"{strategy_key!r} = 'specific-fs' requires the option {key!r}."
            )
        roots = tuple(root for root in roots if root.lower().startswith(f"{scheme.lower()}:"))
        if not roots:
            raise InvalidInputError(
                f"Option {opt.DATA_FILE_EXTERNAL_PATHS_SPECIFIC_FS.key!r} is {scheme!r}, but "
                f"{opt.DATA_FILE_EXTERNAL_PATHS.key!r} contains no path with this scheme: "
                f"{options.value(opt.DATA_FILE_EXTERNAL_PATHS)!r}."
            )
    weights = [1] * len(roots)
    if strategy is ExternalPathStrategy.WEIGHT_ROBIN:
        weights = _weights(options, len(roots))
    return ExternalFolders(
        roots=tuple(root.rstrip("/") for root in roots),
        weights=tuple(weights),
        entropy=strategy is ExternalPathStrategy.ENTROPY_INJECT,
    )


def _weights(options: TableOptions, size: int) -> list[int]:
    key = opt.DATA_FILE_EXTERNAL_PATHS_WEIGHTS.key
    texts: Sequence[str] = options.value(opt.DATA_FILE_EXTERNAL_PATHS_WEIGHTS)
    if len(texts) != size or not all(text.isdigit() and int(text) > 0 for text in texts):
        raise InvalidInputError(
            f"Option {key!r} must contain {size} positive integers, one for each external path."
        )
    return [int(text) for text in texts]


@dataclass(slots=True, kw_only=True)
class FileLocation:
    """Storage, directory and names of the new files of a bucket.

    Attributes:
        file_io: the storage.
        folder: the bucket's directory.
        names: generates file names.
        clock: wall clock, for creation times.
        external: the external directories, if configured.
        relative: the bucket's directory relative to the table's data root.
    """

    file_io: FileIO
    folder: str
    names: FileNames
    clock: Clock
    external: ExternalFolders | None = None
    relative: str = ""
    _turn: int = field(default_factory=lambda: random.randrange(1 << 16))  # noqa: S311 - spreads

    def next_path(self, layout: FileLayout) -> tuple[str, str | None]:
        """Return the path of a new file, and its external path for the manifest entry or None."""
        name = self.names.next(layout)
        if self.external is None:
            return join(self.folder, name), None
        self._turn += 1
        path = self.external.path(self.relative, name, self._turn)
        return path, path.replace("file:///", "file:/", 1)
