"""Make every attempt on this machine, and rewrite the table of docs/security/sandbox.md."""

import os
import platform
import sys
import tempfile
from functools import partial
from pathlib import Path

import uvloop

from apps.firewall.sandbox.levels import offer
from tests.firewall.escapes import codes, nodes
from tests.firewall.escapes.attempts import ATTEMPTS
from tests.firewall.escapes.code_doors import CODE_DOORS, NODE_DOORS, code_problem, through_code, through_node
from tests.firewall.escapes.doors import DOORS, NEEDS, outside, through
from tests.firewall.escapes.files_and_addresses import ADDRESSES, FILES, through_connector, through_files
from tests.firewall.escapes.page import Results, rewrite, table
from tests.firewall.escapes.pages import PAGES, browser_problem, through_browser
from tests.firewall.escapes.system_calls import CALL_DOORS, CALLS, LEVELS, through_calls


async def make_all() -> Results:
    results: Results = {}
    for attempt in ATTEMPTS:
        for door in DOORS:
            results[attempt.name, door] = offer().lacks(NEEDS[door]) or await one(door, attempt)
    for door in CALL_DOORS:
        results |= await calls(door)
    for file in FILES:
        results[file.name, "files"] = await one("files", file)
    for address in ADDRESSES:
        results[address.name, "connector"] = await one("connector", address)
    for page in PAGES:
        results[page.name, "browser"] = browser_problem() or await one("browser", page)
    for code in codes.CODES:
        for door in codes.doors_of(code):
            results[code.name, door] = code_problem(door) or await one(door, code)
    for node in nodes.NODES:
        for door in nodes.doors_of(node):
            results[node.name, door] = code_problem(door) or await one(door, node)
    return results


async def calls(door: str) -> Results:
    """Make the attempts by system calls through one door."""
    if missing := offer().lacks(LEVELS[door]):
        return {(attempt.name, door): missing for attempt in CALLS}
    with tempfile.TemporaryDirectory(prefix="openclaw-escape-") as folder:
        async with outside(Path(folder)) as around:
            problems = await through_calls(door, around)
    return {(name, door): f"**escaped**: {problem}" if problem else "held" for name, problem in problems.items()}


async def one(door: str, attempt: object) -> str:
    """Make one attempt in a fresh place, and say what became of it."""
    make = {"files": through_files, "connector": through_connector, "browser": through_browser}.get(door)
    if door in CODE_DOORS or door in NODE_DOORS:
        make = partial(through_code if door in CODE_DOORS else through_node, door)  # type: ignore[assignment]
    with tempfile.TemporaryDirectory(prefix="openclaw-escape-") as folder:
        async with outside(Path(folder)) as around:
            problem = await (make(attempt, around) if make else through(door, attempt, around))  # type: ignore[arg-type, operator]
    return f"**escaped**: {problem}" if problem else "held"


def main() -> int:
    results = uvloop.run(make_all())  # as the server does
    machine = f"Linux {platform.release().split('-')[0]}, {platform.machine()}, {offer()}"
    rewrite(table(results, f"{machine}; the user is {'root' if os.geteuid() == 0 else 'an ordinary one'}"))
    escaped = {key: told for key, told in results.items() if "escaped" in told}
    print(f"{len(results)} attempts, {len(escaped)} escaped")  # noqa: T201
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(main())
