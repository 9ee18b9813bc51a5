"""Every code block of the README and the documentation runs, and prints what the page shows.

`support.code_blocks` says what a page may contain. Pages that use Spark are run in `tests/spark`,
and blocks that need more, in `test_blocks_with_needs.py`.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from support.code_blocks import Page, documentation, same, shown

PAGES = documentation()
HERE = [page for page in PAGES if page.blocks and not page.uses_spark]


@pytest.mark.parametrize("page", HERE, ids=[page.name for page in HERE])
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = page.differences(tmp_path)
    assert not found, "\n\n".join(found)


def test_there_are_many_blocks() -> None:
    assert sum(len(page.blocks) for page in PAGES) > 80


def test_every_guide_shows_output() -> None:
    guides = [page for page in PAGES if "how-to" in page.path.parts and page.blocks]
    assert len(guides) > 18
    assert [page.name for page in guides if not any(map(shown, page.blocks))] == []


PAGE = """# Title

<!-- setup:
x = 3
-->
```python
print(x)
x + 1
```

```text
3
4
```

<!-- needs: a server -->
```bash
exit 1
```

```console
$ echo a b; date +%Y-%m-%dT%H:%M:%S
a b
2026-01-01T00:00:00
```
"""


def test_a_page_is_run_in_order_with_its_hidden_code(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
    page = Page(tmp_path / "page.md")
    assert [(block.language, block.line, block.needs) for block in page.blocks] == [
        ("python", 4, None),
        ("python", 7, None),
        ("bash", 18, "a server"),
        ("console", 22, None),
    ]
    assert page.differences(tmp_path) == []
    providers = {"a server": lambda block, run: run(replace(block, code="echo 7"))}
    outputs = [output for _, output in page.outputs(tmp_path, providers)]
    assert outputs[:3] == ["", "3\n4\n", "7\n"]


def test_another_output_is_a_difference_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE.replace("4\n```", "5\n```"), encoding="utf-8")
    (difference,) = Page(tmp_path / "page.md").differences(tmp_path)
    assert difference == "page.md:7\n--- page\n+++ run\n@@ -1,2 +1,2 @@\n 3\n-5\n+4"


def test_an_error_in_a_page_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("\n\n```python\nx = 1\n1 / 0\n```\n", encoding="utf-8")
    with pytest.raises(ZeroDivisionError) as raised:
        Page(tmp_path / "page.md").differences(tmp_path)
    assert raised.traceback[-1].lineno == 4  # from 0
    assert raised.traceback[-1].path == tmp_path / "page.md"


def test_commands_that_fail_fail_the_page(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("```bash\nfalse\necho x\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="ends with 1"):
        Page(tmp_path / "page.md").differences(tmp_path)


@pytest.mark.parametrize(
    ("expected", "real", "equal"),
    [
        ("3 rows", "3 rows", True),
        ("3 rows", "4 rows", False),
        ("a   b\n\nc", "a b\nc\n", True),
        ("at 2026-01-01 10:00:00 UTC", "at 2027-11-23 01:02:03.456 UTC", True),
        ("on 2026-01-01", "on 2026-01-02", False),
        ("took 3 ms, 1.2 kB", "took 2.5 s, 630 B", True),
        ("data-0a1b2c3d-…", "data-99999999-…", True),
        (
            "id 00000000-0000-4000-8000-000000000000",
            "id 8f14e45f-ceea-467f-a7d0-1c1e0b3e8a3d",
            True,
        ),
        ("first\n…\nlast", "first\na\nb\nlast", True),
        ("first\n…\nlast", "first\na\nb", False),
        ("… more rows", "12 more rows", True),
        ("… more rows", "12 more files", False),
    ],
)
def test_output_is_compared_without_what_differs_from_run_to_run(
    expected: str, real: str, *, equal: bool
) -> None:
    assert same(expected, real) is equal
