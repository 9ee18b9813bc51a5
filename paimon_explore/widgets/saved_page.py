"""Saves the explorer as one HTML file that needs neither Python nor a network.

The page contains recorded answers: the timeline, the files of all snapshots, all views of the
selected snapshot, and the limit used views of the latest ones. Anything else is shown as not
available. Long texts are cut, and end with their length. Without JavaScript the page shows the
static rendering.
"""

import base64
import json
from collections.abc import Iterator, Mapping

from paimon_explore.errors import PaimonError
from paimon_explore.inspection.explorer.explorer_reports import REPORTS
from paimon_explore.inspection.explorer.explorer_state import ExplorerState, ViewInput
from paimon_explore.inspection.explorer.static_html import explorer_html
from paimon_explore.inspection.history.timeline import FlagKind
from paimon_explore.inspection.problem import problem_of
from paimon_explore.inspection.rendering.code_snippet import Code
from paimon_explore.inspection.rendering.escape import esc, truncate
from paimon_explore.sanitize import masked_members
from paimon_explore.widgets.bundles import PANES, bundle
from paimon_explore.widgets.column_transfer import pack_columns
from paimon_explore.widgets.widget_requests import answer

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data:"
)
_STYLE = (
    ":root{color-scheme:light dark}body{margin:0;background:Canvas;color:CanvasText;"
    "font:14px/1.5 system-ui,sans-serif}table{border-collapse:collapse}th,td{padding:2px 10px}"
    "img{max-width:100%}main{--pe-height:100vh;padding:16px}main:has(.pe-explorer){padding:0}"
)
_MAX_ROWS = 5_000
_MAX_SNAPSHOTS = 100
_MAX_VIEWED = 20
_MAX_FILES_VIEWED = 20_000
_MAX_NODES = 60
_MAX_FILE_DETAILS = 200
_BUNDLES = tuple(name for name in PANES if name not in {"bytes", "sql"})
"""Bundles that the page contains; the byte inspector needs Python, SQL a result."""
_MAX_LINKS = 60
"""Targets of links in the views of the selected snapshot whose answers are recorded as well."""
_MAX_TEXT = 2_000
"""Number of characters of a text in the page."""
_OFTEN = ("overview", "lsm", "diff", "health", "explain")

Message = Mapping[str, object]


def saved_page(state: ExplorerState, traits: Mapping[str, object]) -> str:
    """The HTML page of an explorer.

    Args:
        state: the state of the explorer.
        traits: the traits of the widget.
    """
    recording = _Recorder(state, {**traits, "height": 0}).recording()
    title = state.inspector.view.name
    selected = state.inspector.at(int(str(traits["selected"])))
    try:
        picture = explorer_html(selected)
    except PaimonError as error:
        picture = f"<p>{esc(error.message)}</p>"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{esc(title)}</title><style>{_STYLE}</style></head>"
        f'<body><main id="pe-place">{picture}</main>'
        f'<script type="application/json" id="pe-recording">{_inert(recording)}</script>'
        f'<script type="module">{bundle("saved_page")}</script></body></html>'
    )


def _inert(value: object) -> str:
    """JSON in which no character can end the surrounding HTML element."""
    text = json.dumps(value, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


class _Recorder:
    """Records the answers that the page contains.

    Args:
        state: the state of the explorer.
        traits: the traits of the widget.
    """

    def __init__(self, state: ExplorerState, traits: Mapping[str, object]) -> None:
        self._state = state
        self._traits = traits
        self._selected = int(str(traits["selected"]))
        self._answers: dict[str, object] = {}
        self._tree: dict[str, object] = {}
        self._codes: dict[str, tuple[str, str]] = {}

    def recording(self) -> dict[str, object]:
        """The recording that the script of the page loads."""
        self._ask({"op": "open"})
        for name in _BUNDLES:
            self._ask({"op": "pane", "name": name})
        self._sql()
        where = str(self._traits.get("where", ""))
        self._ask({"op": "profile", "snapshot": self._selected, "where": where})
        frame, count = self._history() if self._state.newest else (-1, 0)
        named = min(count, _MAX_ROWS)
        rows = self._state.rows(frame, range(named)).body["rows"] if named else []
        for row in range(min(count, _MAX_FILE_DETAILS)):
            self._ask({"op": "detail", "node": f"file/{frame}/{row}"})
        ids = [mark.snapshot_id for mark in self._state.inspector.timeline().marks]
        newest = ids[-_MAX_VIEWED:] if count <= _MAX_FILES_VIEWED else []
        for number in ids[-_MAX_SNAPSHOTS:]:
            self._ask({"op": "detail", "node": str(number)})
            for tab in ("files", "partitions", "overview"):
                self._codes[f"{number}|{tab}"] = self._state.code(number, tab, "", "")
        for number in newest:
            self._nodes(number, 2)
            self._views(number, _OFTEN)
        self._nodes(self._selected, _MAX_NODES)
        self._views(self._selected, tuple(REPORTS))
        self._ask({"op": "hints", "snapshot": self._selected})
        for text in [*map(str, ids[-_MAX_SNAPSHOTS:]), *self._tags()]:
            self._ask({"op": "resolve", "text": text})
        self._links()
        content = {"traits": self._traits, "tree": self._tree, "rows": rows, "codes": self._codes}
        kept = {name: _shortened(value) for name, value in masked_members(content).items()}
        return {"script": bundle("explorer"), "answers": self._answers, **kept}

    def _sql(self) -> None:
        """Record the last result of the SQL tab, which is shown whatever is selected."""
        asked = self._traits["asked"]
        text = str(asked.get("sql", "")) if isinstance(asked, Mapping) else ""
        body = self._state.sql_session.saved(self._state.inspector.at(self._selected), text)
        if body is not None:
            self._ask({"op": "pane", "name": "sql"})
            self._keep({"op": "sql_last"}, masked_members(body), {})
            codes = body["codes"]
            assert isinstance(codes, Mapping)  # noqa: S101 - of the body
            self._codes[f"{self._selected}|sql"] = (str(codes["python"]), "")

    def _tags(self) -> list[str]:
        flags = self._state.inspector.timeline().flags
        return [flag.name for flag in flags if flag.kind is FlagKind.TAG][:_MAX_SNAPSHOTS]

    def _links(self) -> None:
        """Record what the links in the views of the selected snapshot lead to."""
        bodies = [
            (pane, self._answers.get(_request(self._question(pane, "")), {})) for pane in REPORTS
        ]
        targets = dict.fromkeys((pane, t) for pane, body in bodies for t in _selections(body))
        for pane, target in list(targets)[:_MAX_LINKS]:
            kind, _, text = target.partition(":")
            if kind in ("file", "schema") and text:
                self._ask({"op": "detail", "node": f"{'name' if kind == 'file' else kind}/{text}"})
            elif kind == "ask" or kind in REPORTS:
                self._ask(self._question(pane if kind == "ask" else kind, text))

    def _question(self, pane: str, text: str) -> dict[str, object]:
        asked = {"snapshot": self._selected, "text": text, "compare": 0, "node": ""}
        return {"op": "report", "pane": pane, **asked}

    def _history(self) -> tuple[int, int]:
        """Record the files of all snapshots; returns the frame number and the number of rows."""
        while not (found := self._state.history()).body["done"]:
            pass
        self._keep({"op": "history"}, dict(found.body), found.columns)
        return int(str(found.body["frame"])), len(found.columns["size"])

    def _ask(self, message: Message) -> None:
        try:
            found = answer(self._state, message)
        except PaimonError as error:
            self._answers[_request(message)] = {"ok": False, "error": problem_of(error).state()}
        else:
            self._keep(message, found.body, found.columns)

    def _keep(self, message: Message, body: Message, columns: Mapping[str, object]) -> None:
        specs, data = pack_columns(columns)  # type: ignore[arg-type]  # of an answer, as they are
        is_script = message["op"] == "pane"
        kept = {"ok": True, "body": body if is_script else _shortened(body), "columns": specs}
        if data:
            kept["data"] = base64.b64encode(data).decode("ascii")
        self._answers[_request(message)] = kept

    def _nodes(self, snapshot: int, limit: int) -> None:
        """Record the manifest tree of a snapshot, up to a number of nodes, with their details."""
        pending = ["", "delta"]
        for number, key in enumerate(pending):
            if number >= limit or not snapshot:
                break
            try:
                children = self._state.tree(snapshot, [key]).body["children"]
            except PaimonError:
                continue
            if not isinstance(children, dict) or key not in children:
                continue
            self._tree[f"{snapshot}|{key}|0"] = children[key]
            keys = [str(node["key"]) for node in children[key]["nodes"]]
            if limit > len(pending):
                pending += [one for one in keys if one not in pending]
                for one in keys[:_MAX_NODES]:
                    self._ask({"op": "detail", "node": f"{snapshot}/{one}"})

    def _views(self, snapshot: int, panes: tuple[str, ...]) -> None:
        asked = self._traits["asked"]
        texts = asked if isinstance(asked, Mapping) else {}
        for pane in panes:
            for text in {"", str(texts.get(pane, ""))}:
                self._ask({**self._question(pane, text), "snapshot": snapshot})
            self._report_code(snapshot, pane)
        if "health" in panes:
            self._ask({"op": "findings", "snapshot": snapshot})

    def _report_code(self, snapshot: int, pane: str) -> None:
        try:
            code = self._state.result(pane, snapshot, ViewInput()).code
        except PaimonError:
            code = Code()
        self._codes[f"{snapshot}|{pane}"] = (code.python, code.spark)


def _shortened(value: object) -> object:
    """A JSON value in which long texts, such as bounds of columns, end with their length."""
    match value:
        case str() if len(value) > _MAX_TEXT:
            return f"{truncate(value, _MAX_TEXT)} ({len(value):,} characters)"
        case Mapping():
            return {name: _shortened(member) for name, member in value.items()}
        case list() | tuple():
            return [_shortened(member) for member in value]
        case _:
            return value


def _selections(body: object) -> Iterator[str]:
    """The values of `selects` anywhere in an answer."""
    if isinstance(body, Mapping):
        for name, member in body.items():
            if name == "selects" and isinstance(member, str) and member:
                yield member
            else:
                yield from _selections(member)
    elif isinstance(body, list | tuple):
        for member in body:
            yield from _selections(member)


def _request(message: Message) -> str:
    """The request as the key of its answer: JSON with sorted members."""
    return json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
