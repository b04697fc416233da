"""The exec policy: a pipeline taken apart and weighed, and ten thousand patterns asked about one program."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import cycle
from typing import Final

from apps.firewall.engine.exec_policy import AllowEntry, ExecRules, Where, judge
from apps.firewall.engine.exec_policy.allowlist import matching_entry
from apps.firewall.engine.exec_policy.analysis import Analyst, Lists
from apps.firewall.engine.exec_policy.resolution import Program
from apps.firewall.engine.exec_policy.tables import exec_tables
from apps.firewall.shell import read_line
from apps.firewall.shell.reader import READER
from bench.figures import Figure, percentile, shown, timed

ROUNDS: Final = 1_000
READ_LIMIT_S: Final = 1e-3
PATTERNS: Final = 10_000
MATCH_LIMIT_S: Final = 2e-3
WHERE: Final = Where(
    cwd="/desk", workspace="/desk", home="/home/op", search_path=("/usr/local/bin", "/usr/bin", "/bin")
)
PIPELINE: Final = (
    'git log --oneline --since="2 weeks ago" -- src | grep -v "Merge branch" | cut -d" " -f2- | sort | uniq -c '
    "| sort -rn | head -n 20 && ls -la build/output | tail -n 5; echo 'the report of this week'"
)
LISTED: Final = (AllowEntry(pattern="/bin/*"),)


class _Bin:
    """A disk that holds every program in /bin."""

    def is_program(self, path: str) -> bool:
        return path.startswith("/bin/")

    def real_path(self, path: str) -> str:
        return path


def measure() -> Iterable[Figure]:
    """Measure both; lines differ from round to round, so that none is answered from what was read before."""
    yield from lines()
    yield from patterns()


def lines() -> Iterator[Figure]:
    tables = exec_tables("2026.9")
    analyst = Analyst(shell=READER, files=_Bin(), where=WHERE, tables=tables, lists=Lists(entries=LISTED))
    fresh = (f"{PIPELINE[:-8]}{number:06}'" for number in range(10 * ROUNDS))
    times = timed(lambda: analyst.analyse(next(fresh)), rounds=ROUNDS)
    median = percentile(times, 0.5)
    yield Figure(
        what=f"exec policy, analysis of a pipeline of {len(PIPELINE)} characters",
        value=f"least {shown(min(times))}, p50 {shown(median)}, p99 {shown(percentile(times, 0.99))}",
        goal="p50 ≤ 1 ms",
        holds=median <= READ_LIMIT_S,
    )
    rules = ExecRules(allowlist=LISTED)
    times = timed(lambda: judge(read_line(next(fresh)), rules, files=_Bin(), where=WHERE), rounds=ROUNDS)
    yield Figure(
        what="exec policy, the same line judged, with its parts and risks",
        value=f"least {shown(min(times))}, p50 {shown(percentile(times, 0.5))}, p99 {shown(percentile(times, 0.99))}",
    )


def patterns() -> Iterator[Figure]:
    tables = exec_tables("2026.9")
    shapes = ("/usr/bin/tool{}", "/opt/tools/p{}*", "**/q{}", "name{}", "~/bin/{}/*")
    entries = tuple(AllowEntry(pattern=shape.format(number)) for number, shape in zip(range(PATTERNS), cycle(shapes)))
    called = [("tool9995", "/usr/bin/tool9995"), ("p9996x", "/opt/tools/p9996x"), ("none", "/opt/tools/none")]
    programs = cycle([Program(called=name, path=path, real_path=path, candidate=path) for name, path in called])
    match = partial(matching_entry, home=WHERE.home, cwd=WHERE.cwd, tables=tables)
    match(entries, next(programs), ("x",))  # a list is put in order once
    times = timed(lambda: match(entries, next(programs), ("x", "y")), rounds=ROUNDS)
    median = percentile(times, 0.5)
    yield Figure(
        what=f"exec policy, one program against {PATTERNS:,} patterns",
        value=f"least {shown(min(times))}, p50 {shown(median)}, p99 {shown(percentile(times, 0.99))}",
        goal="p50 ≤ 2 ms",
        holds=median <= MATCH_LIMIT_S,
    )
