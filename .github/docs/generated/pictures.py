"""Pictures of the concept pages, drawn from a fresh demo warehouse while the site is built.

Charts are those of the explorer. The manifest tree, the bytes of a row and the steps of a commit
are drawn here, from the values that the explorer shows.
"""

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from html import escape
from pathlib import Path

import paimon_explore as pe
from generated.drawing import Drawing
from paimon_explore.inspection.explain.folder_diff import KINDS, kind_of
from paimon_explore.inspection.explorer.static_html import timeline_svg
from paimon_explore.inspection.rendering.number_format import bytes_text
from paimon_explore.inspection.rendering.report import Animation, Report
from paimon_explore.inspection.rendering.report_html import chart_svg
from paimon_explore.inspection.views.manifest_tree import TreeNode

_FOLDER = tempfile.TemporaryDirectory(prefix="paimon-explore-docs-")
_MAX_TEXT = 92


@cache
def warehouse() -> pe.Catalog:
    """Return the demo warehouse, which is removed when the process ends."""
    return pe.demo(_FOLDER.name)


def table(name: str) -> pe.Table:
    """Return a table of the demo warehouse."""
    return warehouse().table(f"demo.{name}")


def picture(name: str) -> str:
    """Return a picture as a figure in HTML.

    Args:
        name: name of the picture.
    """
    caption, draw = PICTURES[name]
    return figure(caption, draw())


def figure(caption: str, drawing: str) -> str:
    """Return a figure in HTML.

    Args:
        caption: the text below the image.
        drawing: the image as SVG.
    """
    svg = drawing.replace("<svg ", f'<svg role="img" aria-label="{escape(caption)}" ', 1)
    return f'<figure class="picture">{svg}<figcaption>{escape(caption)}</figcaption></figure>\n'


def _chart(report: Report) -> str:
    return chart_svg(report.charts[0])


def _timeline() -> str:
    return timeline_svg(table("parcels").inspect.timeline(), 0)


def _time_travel() -> str:
    return timeline_svg(
        table("parcels").inspect.timeline(), table("parcels").tags["weighed"].snapshot.id
    )


def _folder() -> str:
    """The files of `parcels` by kind, as bars of their number."""
    folder = Path(table("parcels").path)
    sizes: defaultdict[str, list[int]] = defaultdict(list)
    for path in folder.rglob("*"):
        if path.is_file():
            sizes[kind_of(path.relative_to(folder).as_posix())].append(path.stat().st_size)
    most = max(map(len, sizes.values()))
    drawing = Drawing(width=720)
    y = 8.0
    for kind, _ in KINDS:
        if kind in sizes:
            count = len(sizes[kind])
            width = 440 * count / most
            drawing.text(6, y + 14, kind)
            drawing.box(120, y, width, "", tone=_TONES.get(kind, "list"))
            files = "file" if count == 1 else "files"
            facts = f"{count} {files}, {bytes_text(sum(sizes[kind]))}"
            drawing.text(128 + width, y + 14, facts)
            y += 26
    return drawing.svg(y)


def _manifest_tree() -> str:
    """Snapshot, manifest lists, manifests and data files of `orders`, left to right."""
    orders = table("orders").at(snapshot=2)
    drawing = Drawing(width=720)
    lists = [node for node in orders.inspect.tree().nodes if node.type == "list"]
    y = 10.0
    middles = []
    for each in lists:
        manifests = list(orders.inspect.tree(each.key).nodes)
        centres = []
        for manifest in manifests:
            files = list(orders.inspect.tree(manifest.key).nodes)
            rows = [y + 26 * i for i in range(len(files))]
            for top, file in zip(rows, files, strict=True):
                drawing.box(490, top, 222, f"{_short(file.label)}  {_partition(file)}", tone="data")
            centre = sum(rows) / len(rows)
            drawing.box(310, centre, 140, _short(manifest.label), tone="manifest")
            drawing.lines((450, centre + 10), [(490, top + 10) for top in rows])
            centres.append(centre)
            y = rows[-1] + 36
        middle = sum(centres) / len(centres)
        drawing.box(140, middle, 130, each.label.removesuffix(" list"), tone="list")
        drawing.lines((270, middle + 10), [(310, top + 10) for top in centres])
        middles.append(middle)
    top = sum(middles) / len(middles)
    drawing.box(6, top, 94, "snapshot-2", tone="snapshot")
    drawing.lines((100, top + 10), [(140, middle + 10) for middle in middles])
    return drawing.svg(y)


def _short(name: str) -> str:
    """A file name with the start of its UUID only."""
    kind, _, rest = name.partition("-")
    return f"{kind}-{rest[:4]}…{rest.partition('.')[0].rpartition('-')[2]}"


def _partition(node: TreeNode) -> str:
    return node.range.partition(" bucket")[0]


def _binary_row() -> str:
    """The bytes of the partition of a manifest entry, cell by cell."""
    layout = table("orders").inspect.bytes("base/0")
    places = list(layout.fields())
    at = next(i for i, place in enumerate(places) if place.span.name == "_PARTITION")
    parent = places[at].path + "."
    drawing = Drawing(width=720)
    leaves = [p for p in places if p.path.startswith(parent) and p.span.form]
    x, y = 6.0, 10.0
    tones = ("list", "snapshot", "manifest", "data")
    for i, leaf in enumerate(leaves):
        data = leaf.space.reader.read(leaf.span.offset, leaf.span.length)
        label = f"{leaf.span.name}: {leaf.space.text(leaf.span)}"[:_MAX_TEXT]
        wide = max(28.0 * len(data), 5.8 * len(label))
        if x + wide > 714:
            x, y = 6.0, y + 56
        for k, byte in enumerate(data):
            drawing.box(x + 28 * k, y, 26, f"{byte:02x}", tone=tones[i % len(tones)], centre=True)
        drawing.text(x, y + 34, label)
        x += wide + 12
    return drawing.svg(y + 46)


def _commit_steps() -> str:
    """The steps of a commit of the demo table, from top to bottom."""
    report = table("orders").inspect.replay(5).to_report()
    animation = next(part for part in report.sections if isinstance(part, Animation))
    drawing = Drawing(width=720)
    y = 8.0
    for number, frame in enumerate(animation.frames, 1):
        tone = "snapshot" if frame.title == "create the snapshot file" else "list"
        drawing.box(6, y, 24, str(number), tone=tone, centre=True)
        drawing.box(36, y, 678, frame.title, tone=tone)
        for line in _lines(frame.text):
            y += 18
            drawing.text(46, y + 14, line)
        y += 30
    return drawing.svg(y)


def _lines(text: str) -> Iterator[str]:
    line = ""
    for word in text.split():
        if len(line) + len(word) > _MAX_TEXT + 10:
            yield line
            line = ""
        line = f"{line} {word}".strip()
    if line:
        yield line


_TONES = {"snapshot": "snapshot", "manifest": "manifest", "data file": "data"}

PICTURES: Mapping[str, tuple[str, Callable[[], str]]] = {
    "folder": ("The files in the folder of demo.parcels: how many of each kind.", _folder),
    "timeline": (
        "Snapshots of demo.parcels. Bars: changed rows. A: append, C: compaction, Z: analyze.",
        _timeline,
    ),
    "time-travel": (
        "The tag 'weighed' of demo.parcels: a read at the tag sees the marked snapshot.",
        _time_travel,
    ),
    "manifest-tree": (
        "Snapshot 2 of demo.orders: its manifest lists, manifests and data files.",
        _manifest_tree,
    ),
    "lsm-tree": (
        "Bucket 0 of demo.customers at snapshot 4: four sorted runs whose key ranges overlap.",
        lambda: _chart(table("customers").at(snapshot=4).inspect.lsm(None, 0).to_report()),
    ),
    "key-history": (
        "The key id = 5 of demo.customers: stored versions; green is returned by reads.",
        lambda: _chart(table("customers").history("id = 5").to_report()),
    ),
    "binary-row": (
        "The partition of a manifest entry as a BinaryRow: one cell for each byte.",
        _binary_row,
    ),
    "commit-steps": ("The steps of a commit of demo.orders.", _commit_steps),
    "compaction": (
        "A compaction of demo.parcels, previewed: sorted runs that are kept and merged.",
        lambda: _chart(table("parcels").what_if.compact().to_report()),
    ),
    "expiry": (
        "An expiry of demo.parcels that keeps 2 snapshots: green is kept, red would expire.",
        lambda: _chart(table("parcels").what_if.expire_snapshots(retain_max=2).to_report()),
    ),
    "schema-versions": (
        "Fields of demo.trips by schema version: added, renamed and widened.",
        lambda: _chart(table("trips").inspect.schema_history().to_report()),
    ),
    "partitions": (
        "Changes of demo.orders by partition and snapshot.",
        lambda: _chart(table("orders").inspect.heat().to_report()),
    ),
    "pruning": (
        "A scan of demo.orders with dt = '2026-01-01' AND id > 300: the share kept at each stage.",
        lambda: _chart(table("orders").explain("dt = '2026-01-01' AND id > 300").to_report()),
    ),
}
"""Each picture by name: its caption, and the function that draws it."""
