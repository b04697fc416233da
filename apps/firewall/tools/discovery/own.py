"""Looks at a source of the firewall's own tools: whether its settings, and this machine, let them run."""

from apps.firewall.patterns import PatternError, compile_pattern
from apps.firewall.tools.browser.machine import machine_problem, settings_problem
from apps.firewall.tools.builtin import email_send
from apps.firewall.tools.configured import TOOLS
from apps.firewall.tools.connections import Connection
from apps.firewall.tools.discovery.found import Failure, Found, Look
from apps.firewall.tools.executors import ConfiguredExecutor
from apps.firewall.tools.folders import unusable_folder


async def look_own(connection: Connection) -> Look:
    """List the tools of a source of the firewall's own; one that cannot run here says why."""
    failure = _failure(connection)
    return Look(
        found=tuple(
            Found(
                key=tool.definition.name,
                definition=tool.defined(connection),
                executor=ConfiguredExecutor(tool=tool.definition.name, source=connection.source),
                is_optional=True,
                failure=failure,
            )
            for tool in TOOLS[connection.kind]
        )
    )


def _failure(connection: Connection) -> Failure | None:
    folder = unusable_folder(connection)
    if folder:
        return Failure(stage="load", code="folder_refused", message=folder)
    if connection.kind == "own_shell":
        return _of_patterns(connection)
    if connection.kind == "own_browser":
        return _of_browser(connection)
    problem = email_send.problem(connection) if connection.kind == "own_email" else ""
    return Failure(stage="verify", code="settings_invalid", message=problem) if problem else None


def _of_browser(connection: Connection) -> Failure | None:
    problem = settings_problem(connection)
    if problem:
        return Failure(stage="verify", code="settings_invalid", message=problem)
    problem = machine_problem()
    return Failure(stage="verify", code="browser_unavailable", message=problem) if problem else None


def _of_patterns(connection: Connection) -> Failure | None:
    for pattern in connection.settings.get("deny_patterns") or ():
        try:
            compile_pattern(pattern)
        except PatternError as exc:
            return Failure(stage="verify", code=exc.code, message=f"`deny_patterns`: {exc.message}")
    return None
