"""The surroundings of calls of tools that a source configures."""

import sys
from pathlib import Path
from typing import Any

from apps.firewall.tools.configured import BY_NAME
from apps.firewall.tools.connections import read_connection
from apps.firewall.tools.connector import Resolve, system_resolve
from apps.firewall.tools.running import Place, ToolOutcome
from apps.firewall.tools.work import Work


def work_in(
    root: Path | str, kind: str, *, resolve: Resolve = system_resolve, query_program: str = "", **settings: Any
) -> Work:
    """Make the surroundings of one call; `secrets` among the settings are texts by name."""
    secrets = settings.pop("secrets", {})
    return Work(
        place=Place(root=str(root), python=sys.executable),
        connection=read_connection(source="own", kind=kind, settings=settings, secrets=secrets),
        resolve=resolve,
        query_program=query_program,
    )


async def run(tool: str, work: Work, **params: Any) -> ToolOutcome:
    return await BY_NAME[tool].run(params, work)


def code(outcome: ToolOutcome) -> str:
    assert outcome.error is not None, outcome
    return outcome.error["code"]
