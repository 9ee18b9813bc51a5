"""The state of the catalog explorer, and the answers to requests of its front end.

Names come first, in pages. The figures and the health of tables are read on demand, for the rows
that the front end shows. Each request ends after about `SLICE_SECONDS`, so that the kernel stays
responsive; the front end then asks for the rest.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Protocol

from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explorer.explorer_state import Answer
from paimon_explore.inspection.health.health_facts import MAX_CHECKED_FILES
from paimon_explore.inspection.health.health_report import HealthBadge, health_badge, table_health
from paimon_explore.inspection.problem import Problem, problem_of
from paimon_explore.inspection.rendering.code_snippet import Code, call_code
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.inspection.warehouse.warehouse_tables import (
    ObjectType,
    WarehouseRow,
    WarehouseTables,
    table_summary,
)

SLICE_SECONDS = 0.2
"""How long a request goes on reading; what has begun is completed."""
PAGE = 2_000
"""Maximum number of names in one answer."""
_MAX_CACHED = 20_000


class WarehouseSource(Protocol):
    """The part of a catalog that the catalog explorer uses."""

    @property
    def title(self) -> str:
        """The warehouse, or the name of the catalog."""

    @property
    def expression(self) -> str:
        """Name of the catalog variable in code snippets."""

    @property
    def place(self) -> Mapping[str, str]:
        """The options that tell which catalog it is, without secrets."""

    def databases(self) -> list[str]:
        """Return the names of the databases, sorted."""

    def names(self, kind: ObjectType, database: str) -> Iterator[str]:
        """Yield the names of the tables, views or functions of a database."""

    def view(self, database: str, table: str) -> TableView:
        """Open a table.

        Raises:
            PaimonError: it does not exist, or cannot be opened.
        """

    def comment(self, kind: ObjectType, database: str, name: str) -> str:
        """Return the comment of a view or a function."""

    def text(self) -> str:
        """Return the catalog as text."""

    def html(self) -> str:
        """Return the catalog as static HTML."""


@dataclass(frozen=True, slots=True, order=True)
class ObjectKey:
    """A table, view or function of the catalog.

    Attributes:
        database: its database.
        name: its name in the database.
        type: what it is.
    """

    database: str
    name: str
    type: ObjectType = ObjectType.TABLE


class _Listing:
    """The names of a database, read as far as they were asked for.

    If views or functions cannot be listed, the tables are still there, and `problems` has the
    reason.
    """

    def __init__(self, source: WarehouseSource, database: str) -> None:
        self.keys: list[ObjectKey] = []
        self.problems: list[Problem] = []
        self.is_complete = False
        self._names = self._all(source, database)

    def _all(self, source: WarehouseSource, database: str) -> Iterator[ObjectKey]:
        for kind in ObjectType:
            try:
                for name in source.names(kind, database):
                    yield ObjectKey(database, name, kind)
            except PaimonError as error:
                if kind is ObjectType.TABLE:
                    raise
                self.problems.append(problem_of(error))

    def read(self, count: int, until: Callable[[], bool]) -> None:
        """Read names until there are `count`, or time is up."""
        while len(self.keys) < count and not self.is_complete:
            key = next(self._names, None)
            if key is None:
                self.is_complete = True
                return
            self.keys.append(key)
            if until():
                return


class WarehouseState:
    """The names, figures and health of the tables of one catalog, cached until `refresh`.

    Args:
        source: the catalog.
        clock: a monotonic clock in seconds, which bounds the requests.
    """

    def __init__(self, source: WarehouseSource, clock: Callable[[], float] = monotonic) -> None:
        self.source = source
        self._clock = clock
        self.refresh()

    def refresh(self) -> None:
        """Forget all names and figures, so that they are read again."""
        self._listings: dict[str, _Listing] = {}
        self._rows: dict[ObjectKey, WarehouseRow] = {}
        self._badges: dict[ObjectKey, HealthBadge | None] = {}

    def open(self) -> Answer:
        """The catalog and its databases.

        Raises:
            PaimonError: the catalog cannot be read.
        """
        body = {
            "title": self.source.title,
            "place": dict(self.source.place),
            "databases": self.source.databases(),
        }
        return Answer(body=body)

    def names(self, database: str, offset: int) -> Answer:
        """A page of the names of a database: tables, then views, then functions.

        Raises:
            PaimonError: the database does not exist or cannot be listed.
        """
        listing = self._read_listing(database, offset + PAGE, self._deadline())
        page = listing.keys[offset : offset + PAGE]
        done = listing.is_complete and offset + len(page) == len(listing.keys)
        body: dict[str, object] = {
            "names": [[key.type.value, key.name] for key in page],
            "done": done,
            "problems": [one.state() for one in listing.problems] if done else [],
        }
        return Answer(body=body)

    def figures(self, keys: Sequence[ObjectKey]) -> Answer:
        """The figures of the first of some tables: as many as can be read in a moment."""
        return Answer(body={"rows": [self.row(key).state() for key in self._some(keys)]})

    def health(self, keys: Sequence[ObjectKey]) -> Answer:
        """The health of the first of some tables; null for a table that is not checked."""
        badges = [self.badge(key) for key in self._some(keys)]
        return Answer(
            body={"badges": [None if badge is None else badge.state() for badge in badges]}
        )

    def row(self, key: ObjectKey) -> WarehouseRow:
        """A table with its figures, or with the reason why it cannot be opened."""
        found = self._rows.get(key)
        if found is None:
            found = self._read(key)
            if len(self._rows) >= _MAX_CACHED:
                self._rows.clear()
            self._rows[key] = found
        return found

    def badge(self, key: ObjectKey) -> HealthBadge | None:
        """The health of a table; None if it cannot be opened, or has too many files to check."""
        if key in self._badges:
            return self._badges[key]
        summary = self.row(key).summary
        found = None
        if summary is not None and summary.files <= MAX_CHECKED_FILES:
            try:
                inspector = Inspector(self.source.view(key.database, key.name))
                found = health_badge(table_health(inspector, system_clock()))
            except PaimonError as error:
                found = HealthBadge(worst="error", total=1, words=error.message)
        self._badges[key] = found
        return found

    def tables(self, database: str = "", *, health: bool = True) -> WarehouseTables:
        """All tables, views and functions of the catalog, or of one database, with their figures.

        Raises:
            PaimonError: the catalog or the database cannot be listed.
        """
        problems: dict[str, Problem] = {}
        rows = []
        for name in [database] if database else self.source.databases():
            try:
                keys = self._all_keys(name)
            except PaimonError as error:
                if database:
                    raise
                problems[name] = problem_of(error)
                continue
            for problem in self._listing(name).problems:
                problems.setdefault(name, problem)
            for key in keys:
                row = self.row(key)
                badge = self.badge(key) if health and row.summary is not None else None
                rows.append(replace(row, badge=badge))
        code = call_code(f"{self.source.expression}.explore().tables", *filter(None, [database]))
        return WarehouseTables(
            place=database or self.source.title,
            rows=tuple(rows),
            problems=problems,
            code=Code(python=code),
        )

    def _all_keys(self, database: str) -> list[ObjectKey]:
        listing = self._read_listing(database, 2**62, lambda: False)
        order = {kind: number for number, kind in enumerate(ObjectType)}
        return sorted(listing.keys, key=lambda key: (order[key.type], key.name))

    def _listing(self, database: str) -> _Listing:
        if database not in self._listings:
            self._listings[database] = _Listing(self.source, database)
        return self._listings[database]

    def _read_listing(self, database: str, count: int, until: Callable[[], bool]) -> _Listing:
        """The listing of a database with so many keys; one that fails is read again later."""
        listing = self._listing(database)
        try:
            listing.read(count, until)
        except PaimonError:
            self._listings.pop(database, None)
            raise
        return listing

    def _deadline(self) -> Callable[[], bool]:
        end = self._clock() + SLICE_SECONDS
        return lambda: self._clock() >= end

    def _some(self, keys: Sequence[ObjectKey]) -> Iterator[ObjectKey]:
        """The first key, and further ones until time is up."""
        is_over = self._deadline()
        for number, key in enumerate(keys):
            if number and is_over():
                return
            yield key

    def _read(self, key: ObjectKey) -> WarehouseRow:
        row = WarehouseRow(database=key.database, name=key.name, type=key.type)
        try:
            if key.type is not ObjectType.TABLE:
                return replace(row, comment=self.source.comment(key.type, key.database, key.name))
            summary = table_summary(self.source.view(key.database, key.name))
        except PaimonError as error:
            return replace(row, problem=problem_of(error))
        return replace(row, summary=summary, comment=summary.comment)
