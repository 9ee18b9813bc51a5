import subprocess
import sys


def test_importing_the_package_loads_no_engine_no_screen_and_no_pandas() -> None:
    program = (
        "import sys, paimon_explore\n"
        "heavy = ('pandas', 'pyspark', 'ipywidgets', 'anywidget', 'plotly', 'IPython', 'sqlglot')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
