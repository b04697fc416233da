"""What becomes of a command that a person was asked about when nobody answers in time.

Source: OpenClaw, settings of exec approvals, `askFallback`; here it is read the narrow way in both releases.
"""

from apps.firewall.engine.exec_policy.judge import ExecVerdict
from apps.firewall.engine.exec_policy.rules import ExecRules


def runs_unanswered(verdict: ExecVerdict, rules: ExecRules) -> bool:
    """Say whether `askFallback` lets a command run that nobody answered for.

    `allowlist` lets run what the allowlist admits; `full` adds no limit to that of `security`, and lifts none. An
    elevated command never runs unanswered, nor does code or a shell's syntax that no list speaks for.
    """
    if (
        verdict.reason == "inline_code"
        or verdict.outcome != "ask"
        or rules.ask_fallback not in ("allowlist", "full")
        or rules.elevated != "off"
    ):
        return False
    is_admitted = verdict.matched is not None and not verdict.is_granted
    return is_admitted or (rules.ask_fallback == rules.security == "full" and not verdict.evidence)
