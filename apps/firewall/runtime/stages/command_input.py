"""What is written to a background command: data for most programs, a command for one that runs what it reads."""

from dataclasses import replace
from typing import Any, Final

from apps.firewall.engine.exec_policy import ExecHostError, exec_rules, rules_of_call
from apps.firewall.engine.exec_policy.inputs import judge_input
from apps.firewall.runtime.executors.dispatch import executor_of
from apps.firewall.runtime.hooks import ApprovalWish
from apps.firewall.runtime.stages.background import LOOKED_AFTER_BY
from apps.firewall.runtime.stages.run import Run
from apps.firewall.tools.executors import BuiltinExecutor

LAYER: Final = "exec_policy"
ASKER: Final = "exec policy"
"""No plugin has such a name."""

ONCE: Final = ("allow-once", "deny")
WAIT_MS: Final = 10 * 60 * 1000
WRITES: Final = {"write": "data", "submit": "data", "paste": "text", "send-keys": "keys"}
"""Action -> the param that holds what is written."""

BREAKS: Final = frozenset({"c-c", "c-d", "c-\\", "ctrl-c", "ctrl-d"})
"""Keys that only interrupt, or end the input: they run nothing that nobody allowed."""


async def command_input_stage(run: Run) -> None:
    """Have a person asked about what is written to a program that would run it; refuse it where nobody is asked."""
    if not _writes(run):
        return
    rules = _rules(run)
    program, command = await _reader(run)
    verdict = judge_input(rules, program) if program else None
    if verdict is None or verdict.outcome == "run":
        return
    if verdict.outcome == "deny":
        raise run.refuse("input_denied", verdict.message, layer=LAYER, rule=verdict.rule)
    if run.approved is None:
        run.wish = _wish(run, f"{verdict.message}: `{command}`" if command else verdict.message)
    elif run.approval_id is None:
        raise run.refuse("action_changed", "since it was queued it needs a person's approval", layer=LAYER)


def _writes(run: Run) -> bool:
    assert run.tool is not None  # noqa: S101 - the stages before
    if run.tool.name != LOOKED_AFTER_BY or not isinstance(executor_of(run.tool), BuiltinExecutor):
        return False
    params = run.call.params
    member = WRITES.get(params.get("action", ""))
    if member is None:
        return False
    if params["action"] == "send-keys":
        return any(str(key).lower() not in BREAKS for key in params.get("keys", ()))
    return params["action"] == "submit" or bool(params.get(member))


def _rules(run: Run) -> Any:
    assert run.snapshot is not None  # noqa: S101 - the stages before
    settings = run.snapshot.exec_settings(run.call.agent)
    try:
        return rules_of_call(exec_rules(settings, dialect=run.snapshot.dialect), settings, {}, run.call.context)
    except ExecHostError as exc:
        raise run.refuse(exc.code, exc.message, layer=LAYER, rule=exc.rule) from exc


async def _reader(run: Run) -> tuple[str, str]:
    """Name the program that would run what is written, and its command; both empty for one that reads data.

    Raises:
        RefusedError: the session has no such command; one that appears later was not judged.
    """
    if run.call.host is not None:
        return "a command of another machine", ""
    session_id = str(run.call.params.get("sessionId", ""))
    found = await run.ports.executor.command_kept(run.call, session_id)
    if found is None:
        raise run.refuse("session_not_found", f"this session has no background command `{session_id}`", layer=LAYER)
    return (found.reads_code, found.command) if found.status == "running" else ("", "")


def _wish(run: Run, words: str) -> ApprovalWish:
    """Ask in our own name, with the words of a plugin that wanted to ask, too."""
    if run.wish is not None:
        description = f"{run.wish.description}\n{words}" if run.wish.description else words
        decisions = tuple(each for each in run.wish.decisions if each in ONCE)
        return replace(run.wish, plugin=ASKER, description=description, decisions=decisions)
    return ApprovalWish(
        plugin=ASKER,
        title="Input for a command that runs what it reads",
        description=words,
        severity="warning",
        timeout_ms=WAIT_MS,
        decisions=ONCE,
    )
