"""Lists of names and patterns that a source holds its command tool to, besides the exec policy."""

import re
from collections.abc import Sequence
from typing import Any, Final

from apps.firewall.engine.exec_policy import ExecVerdict
from apps.firewall.engine.source import ToolEntry
from apps.firewall.patterns import PatternError, compile_pattern, search_bounded
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.runtime.executors.dispatch import executor_of
from apps.firewall.runtime.stages.run import Run
from apps.firewall.tools.configured import SHELL
from apps.firewall.tools.executors import BuiltinExecutor, ConfiguredExecutor

LAYER: Final = "command_lists"
EXEC: Final = "exec"
SEARCH_LIMIT_S: Final = 0.2
WORDS: Final = re.compile(r"[\s;|&()<>{}`$\"']+")


def takes_command(tool: ToolEntry) -> bool:
    """Say whether a tool runs the command in its params, which the exec policy judges then."""
    executor = executor_of(tool)
    if isinstance(executor, ConfiguredExecutor):
        return executor.tool == SHELL
    return isinstance(executor, BuiltinExecutor) and tool.name == EXEC


def check_command_lists(run: Run, tool: ToolEntry, verdict: ExecVerdict) -> None:
    """Refuse a command that the lists of its tool do not allow.

    A line that needs a shell, or runs another program, cannot be held to names: where names are allowed, it is refused.
    Names are those under which the system's programs are found; a path is another program.
    """
    config = definition_of(tool).config
    command, program = run.call.params["command"], verdict.argv[0]
    allowed, denied = _listed(config, "commands"), _listed(config, "deny_commands")
    if allowed and verdict.evidence:
        message = f"only plain commands are allowed, without `{verdict.evidence[0].text}`"
        raise run.refuse("command_not_listed", message, layer=LAYER, rule="commands")
    if allowed and program not in allowed:
        message = f"`{program}` is not among the commands that are allowed: {', '.join(sorted(allowed))}"
        raise run.refuse("command_not_listed", message, layer=LAYER, rule="commands")
    words = WORDS.split(command) if verdict.evidence else [program, verdict.executable]
    hit = next((word for word in words if word.rpartition("/")[2] in denied), None)
    if hit is not None:
        raise run.refuse("command_denied", f"`{hit}` is a command that is denied", layer=LAYER, rule="deny_commands")
    _check_patterns(run, command, _listed(config, "deny_patterns"))


def _check_patterns(run: Run, command: str, patterns: Sequence[str]) -> None:
    for pattern in patterns:
        try:
            found = next(search_bounded(compile_pattern(pattern), command, limit_s=SEARCH_LIMIT_S), None)
        except PatternError as exc:
            raise run.refuse("command_denied", f"a pattern cannot be used: {exc.message}", layer=LAYER) from exc
        if found is not None:  # also when time ran out: what was not searched is not allowed
            message = f"the command fits a pattern that is denied: `{pattern}`"
            raise run.refuse("command_denied", message, layer=LAYER, rule="deny_patterns")


def _listed(config: Any, name: str) -> list[str]:
    value = config.get(name) or []
    return [each for each in value if isinstance(each, str)]
