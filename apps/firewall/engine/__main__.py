"""The engine on the command line, without the product around it.

`python -m apps.firewall.engine explain SNAPSHOT.json --agent bot --tool exec` prints every layer's answer;
`allowed` prints the tools that a context may use. Exit status: 0 for an answer, 1 when the tool is denied, 2 for input
that cannot be used.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from apps.firewall.engine.answers import Explanation
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.contexts import group_session_key
from apps.firewall.engine.decide import decide, explain, explain_tool
from apps.firewall.engine.exec_policy.explaining import EXEC, explain_command
from apps.firewall.engine.snapshot import Snapshot, load_snapshot
from apps.firewall.errors import FirewallError

_OWNER = {"yes": True, "no": False, "unknown": None}


class InputError(FirewallError):
    """Something on the command line cannot be used."""

    code = "input_invalid"


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer one question about a snapshot and return the exit status."""
    asked = _parser().parse_args(arguments)
    try:
        snapshot = _load(asked.snapshot)
        context = _context(asked)
        if asked.question == "allowed":
            return _allowed(explain(snapshot, context))
        if asked.tool is None:
            return _funnel(explain(snapshot, context))
        return _tool(snapshot, context, asked.tool)
    except FirewallError as exc:
        sys.stderr.write(f"error: {exc.message}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m apps.firewall.engine", description="Ask a snapshot.")
    questions = parser.add_subparsers(dest="question", required=True)
    for name, says in (("explain", "which layer removes what"), ("allowed", "which tools a context may use")):
        question = questions.add_parser(name, help=says)
        question.add_argument("snapshot", type=Path, help="file of a snapshot")
        if name == "explain":
            question.add_argument("--tool", help="one tool; without it every layer is shown with what it removes")
        for option, meaning in (
            ("--agent", "id of the agent"),
            ("--session", "session key"),
            ("--provider", "model provider"),
            ("--model", "model"),
            ("--channel", "channel of the conversation"),
            ("--account", "account of the channel"),
            ("--group", "group on the channel; makes a session key when none is given"),
            ("--space", "guild or team around the group"),
            ("--sender", "sender: an id, or e164:…, username:…, name:…"),
        ):
            question.add_argument(option, help=meaning)
        question.add_argument("--owner", choices=tuple(_OWNER), default="unknown", help="is the sender the owner")
        question.add_argument("--sandbox", action="store_true", help="the session is sandboxed")
        question.add_argument("--depth", type=int, default=0, help="how many sub-agents deep")
    return parser


def _load(path: Path) -> Snapshot:
    try:
        return load_snapshot(path.read_bytes())
    except OSError as exc:
        raise InputError(f"`{path}` cannot be read: {exc.strerror}") from exc


def _context(asked: argparse.Namespace) -> CallContext:
    if asked.depth < 0:
        raise InputError(f"the depth `{asked.depth}` is below 0")
    if asked.group and not asked.channel and not asked.session:
        raise InputError("a group needs its channel")
    session = asked.session
    if session is None and asked.group:
        if not asked.agent:
            raise InputError("a group needs an agent or a session key")
        session = group_session_key(asked.agent, asked.channel, asked.group)
    kind, colon, value = (asked.sender or "").partition(":")
    named = {kind: value} if colon and kind in ("id", "e164", "username", "name") else {"id": asked.sender}
    return CallContext(
        agent_id=asked.agent,
        session_key=session,
        provider=asked.provider,
        model_id=asked.model,
        channel=asked.channel,
        account_id=asked.account,
        group_id=asked.group,
        group_space=asked.space,
        sender_id=named.get("id"),
        sender_e164=named.get("e164"),
        sender_username=named.get("username"),
        sender_name=named.get("name"),
        sender_is_owner=_OWNER[asked.owner],
        sandboxed=asked.sandbox or None,
        subagent_depth=asked.depth,
    )


def _allowed(explanation: Explanation) -> int:
    _say(explanation)
    for tool in explanation.allowed:
        sys.stdout.write(f"{tool}\n")
    return 0


def _funnel(explanation: Explanation) -> int:
    _say(explanation)
    for layer in explanation.layers:
        if not layer.applied:
            continue
        sys.stdout.write(f"{layer.number:>2}  {layer.label}  {layer.before} -> {layer.after}  {layer.source}\n")
        for removal in layer.removed:
            sys.stdout.write(f"      - {removal.tool}: {removal.rule}\n")
    sys.stdout.write(f"allowed: {', '.join(explanation.allowed) or 'nothing'}\n")
    for warning in explanation.warnings:
        sys.stdout.write(f"warning: {warning.label} names {', '.join(warning.entries)}\n")
    return 0


def _tool(snapshot: Snapshot, context: CallContext, tool: str) -> int:
    decision = decide(snapshot, context, tool)
    for step in explain_tool(snapshot, context, tool):
        if step.applied:
            mark = "passes" if step.permits else "removes"
            sys.stdout.write(f"{step.number:>2}  {step.label}  {mark}  {step.rule or step.source}\n")
    verdict = "allowed" if decision.allowed else "denied"
    sys.stdout.write(f"{decision.tool}: {verdict}, {decision.reason}\n")
    if not decision.allowed:
        sys.stdout.write(f"layer: {decision.layer} ({decision.label or 'before the layers'})\n")
        sys.stdout.write(f"rule: {decision.rule or 'none'}\n")
    if decision.tool == EXEC:
        _command(snapshot, context)
    return 0 if decision.allowed else 1


def _command(snapshot: Snapshot, context: CallContext) -> None:
    """Tell what holds for a command, and which setting says so."""
    resolution = explain(snapshot, context).resolution
    if resolution is None or resolution.agent is None:
        return
    found = explain_command(snapshot.exec_settings(resolution.agent), context, dialect=snapshot.dialect)
    for word in found.words:
        sys.stdout.write(f"{word.name}: {word.value}  {word.source}\n")
    if found.refusal is not None:
        sys.stdout.write(f"refused: {found.refusal.message}\n")


def _say(explanation: Explanation) -> None:
    if explanation.error is not None:
        raise InputError(f"nothing is allowed: {explanation.error}")


if __name__ == "__main__":
    sys.exit(main())
