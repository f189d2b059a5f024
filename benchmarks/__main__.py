"""Runs the benchmarks: all of them, or those named."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys

NAMES = ("durable_step", "first_frame", "subscribers", "parked")


def main() -> int:
    """Each benchmark has run in its own process; returns 1 where one could not be measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of: {', '.join(NAMES)}")
    names = parser.parse_args().names or list(NAMES)
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}", flush=True)
    failed = [name for name in names if _run(name) != 0]
    if failed:
        print(f"could not be measured: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _run(name: str) -> int:
    """Return the benchmark's exit code; it is asked to end, and waited for, where we are."""
    child = subprocess.Popen([sys.executable, "-m", f"benchmarks.{name}"])
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        return child.wait()
    finally:
        child.terminate()
        child.wait()


if __name__ == "__main__":
    sys.exit(main())
