"""Programs in a Python process of their own."""

import subprocess
import sys


def printed(program: str, *arguments: str) -> str:
    """What a program prints."""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.strip()
