"""Takes the pictures of the README and of the documentation.

The explorer in JupyterLab, on the demo warehouse, and the answers to the ten questions of
`tests/browser/test_overview_walks.py`, on a table that Java wrote. Needs what the browser tests
need. Run from anywhere: .venv/bin/python .ci/pictures.py
"""

import base64
import struct
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "browser")]

from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402 - needs the path
from test_overview_walks import WALKS, Walk, back, open_overview  # noqa: E402 - needs the path

from support.browser_page import Watched, open_tab, serve  # noqa: E402 - needs the path
from support.explored import golden_view  # noqa: E402 - needs the path
from support.golden import GoldenTables  # noqa: E402 - needs the path
from support.jupyter_lab import Lab, start_lab  # noqa: E402 - needs the path

PICTURES = ROOT / ".github" / "pictures"
CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking")
SIZE = {"width": 1360, "height": 1000}
WALK_SIZE = {"width": 1200, "height": 640}
COLOURS = 256
PIXELS = """async (picture) => {
    const image = await createImageBitmap(await (await fetch(picture)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
    canvas.drawImage(image, 0, 0);
    const {data} = canvas.getImageData(0, 0, image.width, image.height);
    let text = '';
    for (let i = 0; i < data.length; i += 30000) {
        text += String.fromCharCode(...data.subarray(i, i + 30000));
    }
    return [image.width, image.height, btoa(text)];
}"""
SHOW = """import paimon_explore as pe
t = pe.demo().table("demo.parcels")
t.explore(height=760)"""
TRACE = """%load_ext paimon_explore
import paimon_explore as pe
t = pe.demo().table("demo.orders")"""
TRACED = """%%paimon_trace
t.delete("id = 1")"""


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        lab = start_lab(Path(folder))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS])
        try:
            page = browser.new_page(viewport=SIZE)
            explorer(lab, page)
            section(page)
            replay(page)
            inspector(page)
            traced(lab, page)
            viewer(lab, page)
            walks(browser, Path(folder))
        finally:
            browser.close()
            lab.process.terminate()
            lab.process.wait(timeout=20)


def explorer(lab: Lab, page: Page) -> None:
    """The explorer with a manifest entry chosen, in the light theme."""
    lab.open_notebook(page, "explorer.ipynb", [SHOW])
    lab.run_all(page)
    page.wait_for_selector('.pe-explorer[data-complete="1"]', timeout=90_000)
    bare(page)
    page.locator(".pe-tree").focus()
    for key in ("ArrowDown", "+", "ArrowDown", "+", "ArrowDown"):
        page.keyboard.press(key)
        page.wait_for_timeout(500)
    take(page, "explorer")


def inspector(page: Page) -> None:
    """The bytes of the chosen manifest, in the dark theme."""
    page.evaluate(
        "void jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
    )
    page.locator('.pe-tree-row[data-type="manifest"]').first.click()
    open_tab(page, "bytes")
    page.wait_for_selector("[data-file^='manifest-']", timeout=20_000)
    page.get_by_role("treeitem", name="_PARTITION").first.click()
    take(page, "bytes")


def section(page: Page) -> None:
    """A bucket in section."""
    open_tab(page, "lsm")
    page.wait_for_selector("[data-pane='lsm'] .pes-box", timeout=20_000)
    take(page, "lsm")


def replay(page: Page) -> None:
    """A commit made again."""
    open_tab(page, "replay")
    page.wait_for_selector("[data-pane='replay'] table", timeout=20_000)
    take(page, "replay")


def traced(lab: Lab, page: Page) -> None:
    """What a cell did on disk."""
    lab.open_notebook(page, "trace.ipynb", [TRACE, TRACED])
    lab.run_all(page)
    page.wait_for_selector(".jp-OutputArea-output table", timeout=60_000)
    bare(page)
    take(page, "trace")


def viewer(lab: Lab, page: Page) -> None:
    """A manifest opened by double click."""
    lab.write_notebook("x.ipynb", [""])
    import paimon_explore as pe  # noqa: PLC0415 - after the path

    pe.demo(lab.folder / "warehouse")
    folder = lab.folder / "warehouse" / "demo.db" / "orders" / "manifest"
    name = next(folder.glob("manifest-[0-9a-f]*-*")).relative_to(lab.folder)
    page.evaluate(f"void jupyterapp.commands.execute('docmanager:open', {{path: '{name}'}})")
    page.wait_for_selector("[data-file^='manifest-']", timeout=20_000)
    take(page, "file-viewer")


def bare(page: Page) -> None:
    """More room: no file browser."""
    page.keyboard.press("Escape")
    page.evaluate("void jupyterapp.commands.execute('application:toggle-left-area')")
    page.wait_for_timeout(1200)


def walks(browser: Browser, folder: Path) -> None:
    """The answers to the ten questions, in the light theme."""
    page = browser.new_page(viewport=WALK_SIZE)
    page.route("http://127.0.0.1:1/**", serve)
    golden = GoldenTables(ROOT / "tests" / "golden", folder)
    view = golden_view(golden.table("java200", "dv_pk").folder)
    open_overview(Watched(page), view, "theme=light")
    (PICTURES / "walks").mkdir(parents=True, exist_ok=True)
    for name, walk in WALKS.items():
        walk(Walk(page))
        take(page, f"walks/{name.replace(' ', '-')}")
        back(page)


def take(page: Page, name: str) -> None:
    """Write one picture."""
    page.wait_for_timeout(1500)
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / f"{name}.png").write_bytes(small(page, page.screenshot()))


def small(page: Page, picture: bytes) -> bytes:
    """A PNG with a palette of its most frequent colours, which takes a third of the bytes."""
    assert page.context.browser is not None
    blank = page.context.browser.new_page()  # notebooks do not let their pages fetch `data:`
    data = f"data:image/png;base64,{base64.b64encode(picture).decode('ascii')}"
    width, height, text = blank.evaluate(PIXELS, data)
    blank.close()
    pixels = np.frombuffer(base64.b64decode(text), np.uint8).reshape(-1, 4)[:, :3]
    packed = pixels.astype(np.int64) @ np.array([65536, 256, 1])
    known, indices, counts = np.unique(packed, return_inverse=True, return_counts=True)
    colours = np.stack([known >> 16, known >> 8 & 255, known & 255], axis=1)
    palette = colours[np.argsort(-counts, kind="stable")[:COLOURS]]
    nearest = np.array([((palette - one) ** 2).sum(axis=1).argmin() for one in colours])
    rows = nearest[indices].astype(np.uint8).reshape(height, width)
    lines = np.hstack([np.zeros((height, 1), np.uint8), rows])  # each line without a filter
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            chunk(b"PLTE", palette.astype(np.uint8).tobytes()),
            chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
            chunk(b"IEND", b""),
        )
    )


def chunk(kind: bytes, data: bytes) -> bytes:
    """One chunk of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


if __name__ == "__main__":
    main()
