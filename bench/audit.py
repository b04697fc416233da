"""The ledger: how fast entries are recorded, and what looking at millions of them costs.

`make bench-audit` builds `AUDIT_BENCH_ENTRIES` entries (5,000,000 unless told) in a database of its own. The text index
follows, as it does in a running installation; then every figure is taken beside what PostgreSQL itself does at best.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from bench._installation import ROOT, Installation, installation
from bench.console_pages import figures_of, rendered
from bench.figures import Figure, percentile, shown

ENTRIES = int(os.environ.get("AUDIT_BENCH_ENTRIES", "5000000"))
CALL_SECONDS, WRITE_SECONDS, WRITERS = 10.0, 12.0, 2
BUILD_S = 3 * 3600
FILTER_S, PAGE_S, WORDS_S, HISTOGRAM_S, KEYSET_S = 0.010, 0.120, 0.100, 0.050, 0.005


def measure() -> Iterator[Figure]:
    """Record first, while the ledger is empty; then fill it and look."""
    with installation() as place:
        place.run("manage.py", "prepare_database")
        yield from _recorded(place)
        yield from _called(place)
    with installation() as place:
        place.run("manage.py", "prepare_database")
        built = place.run("-m", "bench._audit_rows", str(ENTRIES), timeout_s=BUILD_S)
        yield Figure("rows built for what follows", built.strip().splitlines()[-1])
        yield from _followed(_part(place, "follow"))
        yield from _found(_part(place, "find"))
        yield from _planned(_part(place, "plans"))
        yield from _taken(_part(place, "export"))
        yield from _verified(_part(place, "verify"))
        yield from figures_of(rendered(place)["pages"], ENTRIES)


def _part(place: Installation, name: str) -> Any:
    return json.loads(place.run("-m", "bench._audit_find", name, timeout_s=BUILD_S).strip().splitlines()[-1])


def _recorded(place: Installation) -> Iterator[Figure]:
    ran = json.loads(place.run("-m", "bench._audit_ingest").strip().splitlines()[-1])
    rounds, disk = ran["rounds"], "fsync" if ran["fsync"] else "no fsync"
    copy, sealed, whole = ([each[name]["wall"] for each in rounds] for name in ("copy", "sealed", "whole"))
    yield Figure(f"COPY of the same rows, same indexes, one transaction, {disk}", _rate(copy))
    ratios = [one / other for one, other in zip(copy, sealed, strict=True)]
    share = percentile(ratios, 0.5)
    value = f"{_rate(sealed)}, {share:.2f} of COPY"
    yield Figure(f"entries through queue and chain to the disk, {disk}", value, "≥ 0.5 of COPY", share >= 0.5)
    yield Figure("the same with masking and sealing, one process", f"{_rate(whole)}, {_cpu(rounds)}")
    rate = sum(each["entries"] / each["seconds"] for each in _side_by_side(place))
    yield Figure(f"the same, {WRITERS} processes side by side", f"{rate:,.0f}/s", "≥ 15,000/s", rate >= 15_000)


def _side_by_side(place: Installation) -> list[dict[str, float]]:
    command = [sys.executable, "-m", "bench._audit_ingest", "write", str(WRITE_SECONDS)]
    running = [
        subprocess.Popen(command, cwd=ROOT, env=place.environment, stdout=subprocess.PIPE, text=True)
        for _ in range(WRITERS)
    ]
    said = [process.communicate(timeout=300)[0] for process in running]
    return [json.loads(each.strip().splitlines()[-1]) for each in said]


def _rate(microseconds: Sequence[float]) -> str:
    return f"{1e6 / percentile(microseconds, 0.5):,.0f}/s"


def _cpu(rounds: Sequence[dict[str, dict[str, float]]]) -> str:
    here, there = (percentile([each["whole"][name] for each in rounds], 0.5) for name in ("here", "there"))
    return f"CPU an entry {here:.0f} µs here, {there:.0f} µs in the server"


def _called(place: Installation) -> Iterator[Figure]:
    ran = json.loads(place.run("-m", "bench._runtime_calls", str(CALL_SECONDS)).splitlines()[-1])
    worst = percentile(ran["together"], 0.99)
    value = f"{ran['rate']:,.0f}/s, p50 {shown(percentile(ran['together'], 0.5))}, p99 {shown(worst)}"
    holds = ran["rate"] >= 400 and worst <= 0.050
    yield Figure("audited calls that do nothing, 16 callers, one process", value, "≥ 400/s, p99 ≤ 50 ms", holds)


def _followed(ran: dict[str, float]) -> Iterator[Figure]:
    rate = ran["entries"] / ran["seconds"] if ran["seconds"] else 0.0
    yield Figure("index of words and tallies, following", f"{rate:,.0f} entries/s")


def _found(ran: dict[str, list[float]]) -> Iterator[Figure]:
    for name, times in ran.items():
        limit, goal = _limit(name)
        value = f"p50 {shown(percentile(times, 0.5))}, p95 {shown(percentile(times, 0.95))}"
        measured = percentile(times, 0.95)
        yield Figure(f"{ENTRIES:,} entries, {name}", value, goal, measured <= limit)


def _planned(ran: dict[str, list[str]]) -> Iterator[Figure]:
    whole = [f"{name} ({', '.join(tables)})" for name, tables in ran.items() if tables]
    value = f"{len(ran) - len(whole)} of {len(ran)}" + (f"; not: {'; '.join(whole)}" if whole else "")
    yield Figure(f"{ENTRIES:,} entries, questions that are read by an index", value, "all", not whole)


def _limit(name: str) -> tuple[float, str]:
    limits = {
        "first page": (PAGE_S, "p95 ≤ 120 ms"),
        "two words": (WORDS_S, "p95 ≤ 100 ms in SQL"),
        "histogram of a week": (HISTOGRAM_S, "p95 ≤ 50 ms in SQL"),
        "keyset": (KEYSET_S, "p95 ≤ 5 ms in SQL, at depth 1,000,000"),
    }
    return limits.get(name, (FILTER_S, "p95 ≤ 10 ms in SQL"))


def _taken(ran: dict[str, float]) -> Iterator[Figure]:
    share = ran["copy"] / ran["ours"]
    value = f"{ran['lines'] / ran['ours']:,.0f} lines/s, {share:.2f} of COPY TO, {ran['peak_mb']:.0f} MB"
    holds = share >= 0.6 and ran["peak_mb"] < 200
    yield Figure(f"export of {ran['lines']:,.0f} entries as JSONL", value, "≥ 0.6 of COPY TO, < 200 MB", holds)


def _verified(ran: dict[str, float]) -> Iterator[Figure]:
    a_million = ran["seconds"] / ran["entries"] * 1e6
    what = f"verification of {ran['entries']:,.0f} entries, {ran['problems']:.0f} problems"
    value = f"{shown(ran['seconds'])}, {shown(a_million)} for 1,000,000"
    yield Figure(what, value, "≤ 30 s for 1,000,000", a_million <= 30 and ran["problems"] == 0)
