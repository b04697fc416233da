"""`make steady`: the tests of processes, sockets, timers and tasks, several times in random order beside busy loops.

A test that depends on a schedule, an order or a free core fails here sooner than in `make test`. What needs a quiet
machine says so by the marker `slow`, and is not run.

Environment: ROUNDS (10), LOOPS (2), FILES (expressions of paths, separated by commas; all that match `MARKS`).
"""

import multiprocessing
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKS = re.compile(
    r"\bsubprocess\b|create_task|\bgather\(|asyncio\.(?:sleep|wait|Event|timeout)|threading|time\.sleep|\bsocket\b"
    r"|\bserved\b|\brunning\b|run_program|websocket"
)
SKIPPED = ("tests/journeys", "tests/openclaw")
HOURS_AT_MOST = 3


def files() -> list[str]:
    """List the test files that start what a busy machine may disturb."""
    wanted = [re.compile(each) for each in os.environ.get("FILES", "").split(",") if each]
    found = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        name = str(path.relative_to(ROOT))
        is_meant = any(each.search(name) for each in wanted) if wanted else MARKS.search(path.read_text("utf-8"))
        if is_meant and not name.startswith(SKIPPED):
            found.append(name)
    return found


def busy() -> None:
    """Keep one core busy, for as long as the runs may take."""
    ends_at = time.monotonic() + HOURS_AT_MOST * 3600
    while time.monotonic() < ends_at:
        pass


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    rounds, loops = int(os.environ.get("ROUNDS", "10")), int(os.environ.get("LOOPS", "2"))
    chosen = files()
    say(f"{len(chosen)} files, {rounds} rounds, {loops} busy loops")
    beside = [multiprocessing.Process(target=busy, daemon=True) for _ in range(loops)]
    for process in beside:
        process.start()
    failed = 0
    try:
        for number in range(1, rounds + 1):
            command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow and not journey", "-p", "no:playwright"]
            command += ["-p", "randomly", f"--randomly-seed={number}", *chosen]
            say(f"round {number} of {rounds}, seed {number}")
            failed += subprocess.call(command, cwd=ROOT) != 0
    finally:
        for process in beside:
            process.terminate()
    say(f"{failed} of {rounds} rounds had failures")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
