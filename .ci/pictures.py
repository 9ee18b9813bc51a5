"""Takes the pictures of the README: the explorer in JupyterLab, on the demo warehouse.

Needs what the browser tests need. Run from anywhere: .venv/bin/python .ci/pictures.py
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from playwright.sync_api import Page, sync_playwright  # noqa: E402 - needs the path

from support.jupyter_lab import Lab, start_lab  # noqa: E402 - needs the path

PICTURES = ROOT / ".github" / "pictures"
CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking")
SIZE = {"width": 1360, "height": 1000}
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
    page.get_by_role("tab", name="Bytes").click()
    page.wait_for_selector("[data-file^='manifest-']", timeout=20_000)
    page.get_by_role("treeitem", name="_PARTITION").first.click()
    take(page, "bytes")


def section(page: Page) -> None:
    """A bucket in section."""
    page.get_by_role("tab", name="LSM").click()
    page.wait_for_selector("[data-pane='lsm'] .pes-box", timeout=20_000)
    take(page, "lsm")


def replay(page: Page) -> None:
    """A commit made again."""
    page.get_by_role("tab", name="Commit replay").click()
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


def take(page: Page, name: str) -> None:
    """Write one picture."""
    page.wait_for_timeout(1500)
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=str(PICTURES / f"{name}.png"))


if __name__ == "__main__":
    main()
