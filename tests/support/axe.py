"""What axe-core says about the accessibility of a page."""

from pathlib import Path

from playwright.sync_api import Page

from support.required import lacking

_AXE = (
    Path(__file__).parents[2] / "paimon_explore/widgets/frontend/node_modules/axe-core/axe.min.js"
)
_FIND = """async (include) => {
  const themes = {light: {}, dark: {runOnly: ["color-contrast", "link-in-text-block"]}};
  const found = [];
  for (const [theme, rules] of Object.entries(themes)) {
    document.body.className = theme;
    const old = `#place [data-theme]:not([data-theme="${theme}"])`;
    do await new Promise(requestAnimationFrame); while (document.querySelector(old));
    for (const moving of document.getAnimations())
      if (Number.isFinite(moving.effect.getComputedTiming().endTime)) moving.finish();
    const {violations} = await axe.run({include}, {resultTypes: ["violations"], ...rules});
    for (const {id, impact, nodes} of violations)
      if (impact === "serious" || impact === "critical")
        found.push([theme, id, nodes.length, nodes[0].html, nodes[0].failureSummary]);
  }
  document.body.className = "light";
  return found;
}"""


def serious_findings(page: Page, *selectors: str) -> list[object]:
    """What axe finds in parts of a page of the harness and calls serious or critical.

    The page is looked at in the light theme, and its colours in the dark one, too. The test is
    skipped where axe is not installed.
    """
    if not _AXE.exists():
        lacking("axe", f"{_AXE} does not exist")
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(_AXE.read_text(encoding="utf-8"))
    found: list[object] = page.evaluate(_FIND, list(selectors))
    return found
