"""`python -m bench [NAME...]`: run the benchmarks, print their figures, rewrite the table of docs/performance.md.

The table is rewritten only when all of them ran. `audit`, which takes long, runs when it is named and has its own.
"""

import importlib
import os
import pkgutil
import platform
import signal
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import bench
from bench.figures import Figure

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- figures: written by make bench -->", "<!-- end of figures -->"
BEGIN_OF_AUDIT = "<!-- figures: written by make bench-audit -->"
NO_BENCHMARKS = {"__main__", "figures"}
ALONE = "audit"
"""It fills a database with millions of rows and has a table of its own: it runs when it is named."""
FIRST = ("machine", "engine")
"""Their microseconds are those of a process whose memory nothing else has filled."""
VERDICTS = {True: "yes", False: "**no**", None: ""}


def names() -> list[str]:
    """Name the modules that measure something."""
    found = (module.name for module in pkgutil.iter_modules(bench.__path__) if module.name not in NO_BENCHMARKS)
    others = {name for name in found if not name.startswith("_")} - set(FIRST)
    return [*FIRST, *sorted(others)]


def measured(name: str) -> Iterator[Figure]:
    module = importlib.import_module(f"bench.{name}")
    if not hasattr(module, "measure"):
        return
    for figure in module.measure():
        mark = {True: "ok  ", False: "MISS", None: "    "}[figure.holds]
        print(f"{mark} {figure.what}: {figure.value}" + (f"  (goal {figure.goal})" if figure.goal else ""), flush=True)
        yield figure


def table(figures: Iterable[Figure]) -> str:
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg()[:2])
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}; load average {load}"
    lines = [
        f"Measured {datetime.now(UTC):%d %B %Y} on {machine}.",
        "",
        "| What | Figure | Goal | Reached |",
        "|---|---|---|---|",
    ]
    lines += [f"| {figure.what} | {figure.value} | {figure.goal} | {VERDICTS[figure.holds]} |" for figure in figures]
    return "\n".join(lines)


def rewrite(page: Path, text: str, *, begin: str = BEGIN) -> None:
    """Put a text between a mark of a page and the next end of figures."""
    before, mark, rest = page.read_text(encoding="utf-8").partition(begin)
    if not mark:
        raise ValueError(f"{page.name} has no place for figures: {begin}")
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{begin}\n{text}\n{END}{after}", encoding="utf-8")


def main(wanted: list[str]) -> int:
    unknown = set(wanted) - set(names())
    if unknown:
        sys.stderr.write(f"no benchmark named {', '.join(sorted(unknown))}; there are: {', '.join(names())}\n")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # databases and servers go away then, too
    everything = [name for name in names() if name != ALONE]
    figures = [figure for name in wanted or everything for figure in measured(name)]
    if wanted in ([], [ALONE]):
        rewrite(PAGE, table(figures), begin=BEGIN_OF_AUDIT if wanted else BEGIN)
    return 1 if any(figure.holds is False for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
