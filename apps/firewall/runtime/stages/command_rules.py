"""What holds for the command of one call: its agent's rules, and what the call asks for."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from apps.firewall.engine.exec_policy import AllowEntry, ExecHostError, ExecRules, exec_rules, rules_of_call
from apps.firewall.engine.exec_policy.resolution import find_program
from apps.firewall.engine.names import fold
from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.executors.dispatch import executor_of
from apps.firewall.runtime.stages.run import Run
from apps.firewall.tools.builtin.exec import PATH
from apps.firewall.tools.executors import BuiltinExecutor

NOTHING: Final[Mapping[str, Any]] = {}


def command_rules(run: Run, tool: ToolEntry, grants: Iterable[AllowEntry] = ()) -> ExecRules:
    """Work out the rules of a call.

    Only of `exec` itself the params say where and how: a configured tool may have one of that name that means
    something else.

    Raises:
        RefusedError: the call asks for what it cannot have; the message names the gate.
    """
    assert run.snapshot is not None  # noqa: S101 - the stages before
    settings = run.snapshot.exec_settings(run.call.agent)
    rules = exec_rules(settings, dialect=run.snapshot.dialect, grants=grants)
    params = run.call.params if isinstance(executor_of(tool), BuiltinExecutor) else NOTHING
    if rules.auto_allow_skills:
        rules = replace(rules, skills=_skills(run))
    try:
        return rules_of_call(rules, settings, params, run.call.context)
    except ExecHostError as exc:
        raise run.refuse(exc.code, exc.message, layer="exec_policy", rule=exc.rule) from exc


def _skills(run: Run) -> frozenset[tuple[str, str]]:
    """Find the files that the programs of the agent's skills lead to; one release compares them behind all links."""
    files, folders = run.ports.executor.files, tuple(PATH.split(":"))
    names = run.ports.skills.programs(run.call.environment, run.call.agent)
    found = [find_program(name, files=files, cwd="/", search_path=folders) for name in names]
    return frozenset((fold(each.name), path) for each in found if each.is_found for path in (each.path, each.real_path))
