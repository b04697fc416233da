"""What a draft becomes as a row: what people see, masked; what is bound; when it ends; which question it repeats."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from apps.approvals.answering import answer_policy
from apps.approvals.drafts import ApprovalDraft
from apps.approvals.history import history_hints
from apps.approvals.models import Approval
from apps.approvals.sealing import action_digest, sealed_action, unsealed_action
from apps.approvals.segments import shown_line, shown_piece
from apps.approvals.shapes import shape_digest
from apps.approvals.unbound import unbound_kept
from apps.audit.chain import storable
from apps.audit.masking import Masker
from apps.registry.models import Environment

# How long a person has, by dialect. Source: OpenClaw, exec approvals, releases 2026.2 and 2026.9.
TIMEOUT_S: dict[str, int] = {"2026.2": 120, "2026.9": 30 * 60}
NAMES = frozenset({"call_id", "trace_id", "run", "snapshot", "warnings", "hook_changes", "filtered"})
"""Members of an action that name a call or tell of it; they say nothing about what would run."""


def usual_wait_s(environment: Environment) -> float:
    """Tell how long people of an environment have to answer, in seconds."""
    own = answer_policy(environment).wait_s
    return TIMEOUT_S[environment.dialect] if own is None else own


def row_values(draft: ApprovalDraft, at: datetime, timeout_s: float | None) -> dict[str, Any]:
    """Give the row of a draft."""
    values = _shown(draft) | _asked(draft, at, timeout_s)
    past = history_hints(draft, command=values["command"], evidence=values["evidence"], at=at)
    return values | {
        "evidence": [*values["evidence"], *past],
        "shape": shape_digest(values),
        "action_digest": action_digest(draft.action),
        "question_digest": question_digest(draft),
        "sealed_action": sealed_action(draft.action),
    }


def question_digest(draft: ApprovalDraft) -> str:
    """Digest what makes two requests the same question, as hex SHA-256; empty where none can be the same."""
    return "" if draft.question is None else action_digest(draft.question)


def differences(approval: Approval, draft: ApprovalDraft) -> list[str]:
    """Name what would run differently now than what a waiting request is bound to."""
    bound = unsealed_action(approval)
    wanted = storable(dict(draft.action))
    return sorted(name for name in (bound.keys() | wanted.keys()) - NAMES if bound.get(name) != wanted.get(name))


def _shown(draft: ApprovalDraft) -> dict[str, Any]:
    """Give what people see of an action, masked."""
    masker = Masker(draft.sensitive_fields)
    command, parts = shown_line(masker, draft.command, draft.parts)
    return {
        "command": command,
        "parts": parts,
        "argv": masker.value("argv", list(draft.argv)),
        "params": masker.value("params", dict(draft.params)),
        "evidence": masker.value("evidence", [_found(item, masker, draft.command, command) for item in draft.evidence]),
        "not_bound": masker.value("not_bound", unbound_kept(draft.unbound)),
        "warnings": masker.value("warnings", list(draft.warnings)),
        "title": masker.text(draft.title),
        "reason": masker.text("" if draft.asked is None else draft.asked.reason),
    }


def _found(item: Mapping[str, Any], masker: Masker, command: str, shown: str) -> dict[str, Any]:
    text = item.get("text")
    if not isinstance(text, str):
        return dict(item)
    return {**item, "text": shown_piece(masker, text, command=command, shown=shown)}


def _asked(draft: ApprovalDraft, at: datetime, timeout_s: float | None) -> dict[str, Any]:
    wait = usual_wait_s(draft.environment) if timeout_s is None else timeout_s
    plain = ("kind", "agent", "session_key", "channel", "sender", "sender_name", "requester", "tool", "severity")
    more = ("resolved_path", "cwd", "host", "snapshot_digest", "trace_id", "given_id")
    values = {name: storable(getattr(draft, name)) for name in plain + more}
    asked = draft.asked
    return values | {
        "environment": draft.environment,
        "actor": storable(draft.actor or str(draft.action.get("actor") or "")),
        "runs_here": draft.runs_here,
        "fallback_rule": draft.fallback_rule if draft.runs_here else "",
        "sender_is_owner": draft.sender_is_owner,
        "reason_layer": "" if asked is None else asked.layer,
        "reason_rule": "" if asked is None else asked.rule,
        "decisions": [str(decision) for decision in draft.decisions],
        "requested_at": at,
        "expires_at": at + timedelta(seconds=wait),
    }
