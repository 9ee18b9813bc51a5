"""A process that commits to a table of a catalog: python -m support.catalog_committing TOLD NUMBER.

The file TOLD holds the catalog's options, the table and the number of commits. The process writes
TOLD.NUMBER.ready, waits for TOLD.go, commits rows with values of its own, and writes the values
that were committed and those that failed to TOLD.NUMBER.done.
"""

import json
import sys
import time
from pathlib import Path

from paimon_explore import Catalog
from paimon_explore.errors import CommitError

_PAUSE = 0.01


def main(told: Path, number: int) -> None:
    """Commit as told."""
    given = json.loads(told.read_text(encoding="utf-8"))
    catalog = Catalog(options=given["options"])
    table = catalog.table(given["table"], options=given["dynamic"])
    Path(f"{told}.{number}.ready").touch()
    while not Path(f"{told}.go").exists():
        time.sleep(_PAUSE)
    done, failed = [], []
    for turn in range(given["commits"]):
        value = number * 1_000 + turn
        try:
            table.append([{"id": value, "by": number}])
        except CommitError as error:
            failed.append((value, str(error)))
        else:
            done.append(value)
    part = Path(f"{told}.{number}.part")
    part.write_text(json.dumps({"done": done, "failed": failed}), encoding="utf-8")
    part.rename(f"{told}.{number}.done")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
