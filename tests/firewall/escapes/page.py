"""The page that lists every attempt with its result; `make escapes` makes them all and writes it."""

import re
from pathlib import Path
from typing import Final

from tests.firewall.escapes import codes, nodes, system_calls
from tests.firewall.escapes.attempts import ATTEMPTS
from tests.firewall.escapes.code_doors import CODE_DOORS, NODE_DOORS
from tests.firewall.escapes.doors import DOORS
from tests.firewall.escapes.files_and_addresses import ADDRESSES, FILES
from tests.firewall.escapes.pages import PAGES
from tests.firewall.escapes.system_calls import CALL_DOORS, CALLS

PAGE: Final = Path(__file__).resolve().parents[3] / "docs" / "security" / "sandbox.md"
BEGIN, END = "<!-- attempts: written by make escapes -->", "<!-- end of attempts -->"
ROW: Final = re.compile(r"^\| (\d+) \| [^|]+ \| ([^|]+) \|", flags=re.MULTILINE)
Results = dict[tuple[str, str], str]
"""Name of an attempt and door -> what became of it."""

PLACES: Final = {
    **{"files": "file tools", "connector": "requests", "browser": "pages"},
    **CODE_DOORS,
    **NODE_DOORS,
    **CALL_DOORS,
}


def families() -> list[tuple[str, str, tuple[str, ...]]]:
    """List every attempt as its family, its name, and the doors that it goes through."""
    programs = [(each.family, each.name, tuple(DOORS)) for each in ATTEMPTS]
    calls = [(each.family, each.name, system_calls.doors_of(each)) for each in CALLS]
    files = [(each.family, each.name, ("files",)) for each in FILES]
    requests = [(each.family, each.name, ("connector",)) for each in ADDRESSES]
    pages = [(each.family, each.name, ("browser",)) for each in PAGES]
    code = [(each.family, each.name, codes.doors_of(each)) for each in codes.CODES]
    node = [(each.family, each.name, nodes.doors_of(each)) for each in nodes.NODES]
    return programs + calls + files + requests + pages + code + node


def table(results: Results, machine: str) -> str:
    """Write the table."""
    lines = [
        f"Made on {machine}.",
        "",
        "| No. | Goes for | Attempt | Result |",
        "|---|---|---|---|",
    ]
    for number, (family, name, doors) in enumerate(families(), start=1):
        told = "; ".join(f"{(DOORS | PLACES)[door]}: {results.get((name, door), 'not made')}" for door in doors)
        lines.append(f"| {number} | {family} | {name} | {told} |")
    return "\n".join(lines)


def listed() -> list[str]:
    """List the names of the attempts on the page."""
    return [name for _, name in ROW.findall(PAGE.read_text(encoding="utf-8"))]


def rewrite(text: str) -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
