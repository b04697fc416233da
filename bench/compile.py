"""From 100,000 rows to a signed snapshot, and a server that takes a new one while it decides."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator

from bench._installation import ROOT, Installation, installation
from bench.figures import Figure, percentile, shown

COMPILE_S, WAIT_S, QUIET_S, SWAP_S = 1.5, 0.050, 5.0, 8.0
Answer = tuple[float, float, str]
"""When a decision was asked for (monotonic seconds), how long it waited (seconds), the digest that answered."""


def measure() -> Iterable[Figure]:
    """Compile the population from rows, then swap publications under a served copy."""
    with installation() as place:
        place.run("manage.py", "prepare_database")
        filled = json.loads(place.run("-m", "bench._compile_rows", "fill").splitlines()[-1])
        rows = ", ".join(f"{count:,} {name}" for name, count in filled["rows"].items())
        if filled["digests"] != 1:
            raise RuntimeError("the same rows gave different snapshots")
        times = filled["times_s"]
        value = f"p50 {shown(statistics.median(times))}, worst of {len(times)} {shown(max(times))}"
        middle = statistics.median(times)
        what = f"database rows to canonical, signed snapshot ({rows}; {filled['policies']:,} policies)"
        yield Figure(what, value, "≤ 1.5 s", middle <= COMPILE_S)
        yield from swapping(place, filled["publications"])


def swapping(place: Installation, publications: list[str]) -> Iterator[Figure]:
    """Bring each publication back to life under a server that has never seen it and is asked without a pause."""
    secret = json.loads(place.run("-m", "bench._compile_rows", "token").splitlines()[-1])
    quiet: list[float] = []
    during: list[float] = []
    for publication in publications:
        with place.serve("--no-prepare", "--no-background"):
            answers, began, digest = asked(place, secret, publication)
        seen = next((sent for sent, _, used in answers if used == digest), None)
        if seen is None:
            raise RuntimeError(f"the server never decided with the snapshot {digest}")
        quiet += [waited for sent, waited, _ in answers if sent + waited < began]
        during += [waited for sent, waited, _ in answers if began <= sent <= seen + 0.5]
    before = f"p50 {shown(percentile(quiet, 0.5))}, p99 {shown(percentile(quiet, 0.99))}, longest {shown(max(quiet))}"
    yield Figure(f"wait for a decision over HTTP, no swap, {len(quiet):,} decisions", before)
    worst = max(during)
    value = f"p50 {shown(percentile(during, 0.5))}, p99 {shown(percentile(during, 0.99))}, longest {shown(worst)}"
    what = f"the same while a snapshot is swapped in, {len(publications)} swaps, {len(during):,} decisions"
    yield Figure(what, value, "longest ≤ 50 ms", worst <= WAIT_S)


def asked(place: Installation, secret: str, publication: str) -> tuple[list[Answer], float, str]:
    """Load the server from a process of its own and swap meanwhile.

    Returns:
        The answers, when the swap began, and the digest that was swapped in.
    """
    command = [sys.executable, "-m", "bench._compile_load", place.url, secret]
    load = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        time.sleep(QUIET_S)
        said = json.loads(place.run("-m", "bench._compile_rows", "swap", publication).splitlines()[-1])
        time.sleep(SWAP_S)
        output, _ = load.communicate("", timeout=60)
    finally:
        load.kill()
        load.wait()
    return [tuple(answer) for answer in json.loads(output)], said["began"], said["digest"]
