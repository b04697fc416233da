"""Whether a command may run on when its call has waited long enough, and how long it may take in all."""

from typing import Any, Final

from apps.firewall.engine.decide import decide
from apps.firewall.engine.exec_settings import ExecSettings
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.runtime.sessions import place_of
from apps.firewall.runtime.stages.run import Run

COMMAND_TOOL: Final = "exec"
LOOKED_AFTER_BY: Final = "process"
SHORTEST_MS, LONGEST_MS = 10, 120_000


def command_timing(run: Run) -> dict[str, Any]:
    """Fix how long a command may take, and whether it may run on: `{"timeout_s", "foreground_ms"}`.

    `foreground_ms` is there only for one that may: its call asked for that, or the settings say so for all; its context
    may use the tool that looks after such commands; and it has a session that it can belong to. Where a call asked and
    may not, it runs in the foreground, and is told why.
    """
    assert run.snapshot is not None  # noqa: S101 - the stage before
    settings = run.snapshot.exec_settings(run.call.agent)
    timing = {"timeout_s": run.call.params.get("timeout") or settings.timeout_s or 0}
    wanted = _wanted_ms(run, settings)
    if wanted is None or run.tool_name != COMMAND_TOOL:
        return timing
    problem = _problem(run, run.snapshot)
    if not problem:
        return {**timing, "foreground_ms": wanted}
    asked = next((name for name in ("background", "yieldMs") if run.call.params.get(name)), "")
    warning = {"path": asked, "code": "not_in_background", "message": f"it ran in the foreground: {problem}"}
    if asked and warning not in run.warnings:
        run.warnings.append(warning)
    return timing


def _wanted_ms(run: Run, settings: ExecSettings) -> int | None:
    """Tell how long the call waits for its command; None for as long as that takes."""
    params = run.call.params
    if params.get("background"):
        return 0
    if "yieldMs" in params:
        return int(params["yieldMs"])
    configured = settings.settings.get("backgroundMs")
    if isinstance(configured, int) and not isinstance(configured, bool):
        return min(max(configured, SHORTEST_MS), LONGEST_MS)
    return None


def _problem(run: Run, snapshot: Snapshot) -> str:
    standing = run.ports.tool_states.standing(run.call.environment, LOOKED_AFTER_BY)
    is_withdrawn = standing is not None and bool(standing.code)
    if is_withdrawn or not decide(snapshot, run.call.context, LOOKED_AFTER_BY).allowed:
        return f"`{LOOKED_AFTER_BY}` is not allowed here"
    if place_of(run.call, snapshot.engine.dialect) is None:
        return "the call names no session that the command could belong to"
    return ""
