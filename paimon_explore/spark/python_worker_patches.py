"""Reduces the fixed cost of tasks in Spark's Python workers.

This relies on internals of CPython and PySpark, and has no effect when these change.
"""

import gc
import sys
from zipimport import zipimporter

from pyspark import SparkFiles

_modules_kept = 0


def lighten_worker() -> None:
    """Make tasks of this worker start and end faster; nothing outside a Spark worker.

    Called at the start of every task, and of every plan of a data source.

    - PySpark calls `importlib.invalidate_caches()` in every task, at which Python reads the
      contents of pyspark.zip, py4j.zip and the Spark jar again, once for each package in them: 0.1
      CPU-s a task. Entries that are not in the cache are not read again; a later import creates
      them again.
    - It calls `gc.collect()` after every task, which traverses all objects of the modules: 0.03
      CPU-s. Modules live as long as the worker, so they are frozen (`gc.freeze`).
    """
    if not getattr(SparkFiles, "_is_running_on_worker", False):
        return  # another process, which may be the user's own
    global _modules_kept  # noqa: PLW0603 - a worker is a process
    finders = sys.path_importer_cache
    for path in [path for path, finder in finders.items() if isinstance(finder, zipimporter)]:
        del finders[path]
    if len(sys.modules) > _modules_kept:
        _modules_kept = len(sys.modules)
        gc.collect()
        gc.freeze()
