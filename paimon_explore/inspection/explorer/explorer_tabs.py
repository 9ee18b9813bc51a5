"""The tabs of the explorer, and the selection with which it opens."""

from collections.abc import Mapping
from datetime import datetime

from paimon_explore.errors import InvalidInputError, choices, suggestion
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.views.inspector import Inspector

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Overview": {"overview": "Overview"},
    "Data": {
        "files": "Files",
        "rows": "Rows",
        "sql": "SQL",
        "partitions": "Partitions",
        "profile": "Profile",
    },
    "History": {
        "diff": "Snapshot diff",
        "key": "Key history",
        "heat": "Partition heatmap",
        "schema": "Schema history",
        "compare": "Compare",
    },
    "Reads": {"explain": "Explain scan", "why": "Explain file", "lsm": "LSM tree"},
    "Maintenance": {"health": "Health", "expiry": "Expiry preview", "what_if": "What if"},
    "Internals": {"bytes": "Bytes", "replay": "Commit replay"},
}
"""The groups of tabs in order: names and titles of their tabs. The front end receives them."""

TABS = tuple(name for tabs in GROUPS.values() for name in tabs)
"""The names of the tabs in order."""

WITHOUT_TEXT = frozenset(
    {"overview", "files", "rows", "partitions", "heat", "health", "schema", "bytes"}
)
"""Tabs that have no input field of their own."""

Point = int | str | datetime
"""A snapshot: its id, a tag, or a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What an explorer shows first.

    Attributes:
        tab: name of a tab; None for the one that fits the other values, else the overview.
        snapshot: the snapshot; None for the latest.
        compare: the snapshot to compare with; None for none.
        filter: condition on the files to list.
        text: input of the tab.
    """

    tab: str | None = None
    snapshot: Point | None = None
    compare: Point | None = None
    filter: str | None = None
    text: str | None = None

    def traits(self, inspector: Inspector) -> dict[str, object]:
        """The values of the traits that differ from the defaults.

        Raises:
            InvalidInputError: the tab does not exist, or has no input for `text`.
            NotFoundError: a snapshot does not exist.
        """
        tab = self.checked_tab()
        found: dict[str, object] = {"tab": tab}
        for name, point in (("selected", self.snapshot), ("compare", self.compare)):
            if point is not None:
                snapshot = inspector.point(point)
                found[name] = 0 if snapshot is None else snapshot.id
        if self.filter is not None:
            found["filter"] = self.filter
        if self.text is not None:
            found["asked"] = {tab: self.text}
        return found

    def checked_tab(self) -> str:
        """The tab to open.

        Raises:
            InvalidInputError: the tab does not exist, or has no input for `text`.
        """
        tab = self.tab
        if tab is None:
            tab = "files" if self.filter is not None else "overview"
            if self.compare is not None and self.filter is None:
                tab = "diff"
        if tab not in TABS:
            hint = f"{suggestion(tab, TABS)}Tabs: {choices(TABS, limit=40)}."
            raise InvalidInputError(f"The explorer has no tab {tab[:40]!r}.", hint=hint)
        if self.text is not None and tab in WITHOUT_TEXT:
            others = choices([name for name in TABS if name not in WITHOUT_TEXT])
            hint = f"Pass filter= for the list of files, or tab= with one of {others}."
            raise InvalidInputError(
                f"The tab {tab!r} has no input, so text= has no effect.", hint=hint
            )
        return tab
