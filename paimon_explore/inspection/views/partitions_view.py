"""The partitions of a snapshot with totals of their live files."""

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.chart import BarChart, Series, Unit
from paimon_explore.inspection.rendering.number_format import bytes_text, plural
from paimon_explore.inspection.rendering.report import MAX_ROWS, Entry, Report, grid
from paimon_explore.inspection.rendering.result import TableResult

_MAX_BARS = 60


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PartitionsView(TableResult):
    """Partitions, one row per partition.

    Attributes:
        name: the table and the snapshot.
        table: partition (text), files, level_0, buckets, rows, bytes.
    """

    name: str
    kind = "partitions"

    @property
    def num_rows(self) -> int:
        """The number of partitions, named as in `pyarrow.Table`."""
        return self.table.num_rows

    def to_pylist(self) -> list[dict[str, object]]:
        """The partitions as dictionaries."""
        return list(self.table.to_pylist())

    def figures(self) -> dict[str, object]:
        """The partitions as JSON, one row each."""
        return {"partitions": self.to_pylist()}

    def to_report(self) -> Report:
        """A chart of bytes by partition, and a table of the partitions."""
        rows = self.table.slice(0, MAX_ROWS).to_pylist()
        bars = rows[:_MAX_BARS]
        sections = []
        if bars:
            sections.append(
                BarChart(
                    title="Bytes by partition",
                    categories=tuple(row["partition"] or "unpartitioned" for row in bars),
                    series=(Series(name="bytes", values=tuple(row["bytes"] for row in bars)),),
                    unit=Unit.BYTES,
                )
            )
        heads = ("partition", "files#", "level-0 files#", "buckets#", "rows#", "size#")
        cells = [_cells(row) for row in rows]
        title = f"{self.name}: {plural(len(self), 'partition')}"
        return Report(
            title=title, sections=(*sections, grid("Partitions", heads, cells, total=len(self)))
        )


def _cells(row: dict[str, object]) -> list[Entry]:
    counts = [int(str(row[name])) for name in ("files", "level_0", "buckets", "rows")]
    name = str(row["partition"]) or "unpartitioned"
    return [name, *counts, bytes_text(int(str(row["bytes"])))]
