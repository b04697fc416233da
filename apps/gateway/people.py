"""Fills the port `Approvals`: what calls ask of people, and what people said once for all."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.approvals.answering import environment_asking
from apps.approvals.asking import usual_wait_s
from apps.approvals.drafts import ApprovalDraft
from apps.approvals.grants import grant_used
from apps.approvals.running import approval_drifted
from apps.approvals.selectors import grant_covering, grants_for
from apps.approvals.services import approval_request
from apps.approvals.states import Decision
from apps.audit.drafts import EntryDecision
from apps.firewall.engine.exec_policy import ExecVerdict
from apps.firewall.engine.recorded import record_context
from apps.firewall.runtime.call import Action, Asked, Call, Host, JsonObject, Judgement, RefusedError
from apps.firewall.runtime.hooks import ApprovalWish
from apps.firewall.runtime.ports import ApprovalRequest, StandingGrant
from apps.firewall.runtime.stages.halt import LAYER
from apps.firewall.runtime.stages.host_env import asked_variables
from apps.gateway.database import in_database
from apps.gateway.untold import untold_keep
from apps.halts.storms import CODE as PAUSED
from apps.halts.storms import storm_pause
from apps.halts.storms import told as pause_told
from apps.registry.errors import RegistryError
from apps.registry.models import Environment
from apps.registry.selectors import environment_find

HARMFUL = frozenset(
    {
        "destructive",
        "download_to_shell",
        "look_alike",
        "pipe_to_shell",
        "secret_in_arguments",
        "writes_outside_workspace",
    }
)
TITLE_LETTERS = 200
HOST_MARGIN_S = 5.0


def sender_of(call: Call) -> str:
    """Name the person behind a call, as far as the caller says."""
    context = call.context
    return context.sender_id or context.sender_username or context.sender_e164 or context.sender_name or ""


def entry_decision(judgement: Judgement) -> EntryDecision:
    return EntryDecision(
        verdict=judgement.verdict,
        layer=judgement.layer,
        label=judgement.label,
        rule=judgement.rule,
        reason=judgement.reason,
    )


def environment_named(slug: str, *, find: Callable[[str], Environment | None] = environment_find) -> Environment:
    """Find the environment of a call.

    Raises:
        RegistryError: there is none.
    """
    environment = find(slug)
    if environment is None:
        raise RegistryError(f"no environment named `{slug}`")
    return environment


class QueueOfPeople:
    """Fills the port `Approvals`."""

    async def grants(self, call: Call, tool: str) -> Sequence[StandingGrant]:
        return await in_database(_grants, call, tool)

    async def covering(self, call: Call, tool: str, params: JsonObject, asker: str) -> StandingGrant | None:
        return await in_database(_covering, call, tool, params, asker)

    async def use(self, grant: StandingGrant, call: Call) -> None:
        await in_database(_use, grant, call)

    async def check(self, call: Call) -> None:
        await in_database(lambda: _check_pause(environment_named(call.environment, find=environment_asking), call))

    async def ask(self, request: ApprovalRequest) -> Asked:
        return await in_database(_ask, request)

    async def drifted(self, approval_id: UUID, parts: Sequence[str]) -> None:
        await in_database(approval_drifted, approval_id, parts=parts)


def _grants(call: Call, tool: str) -> list[StandingGrant]:
    found = grants_for(environment_named(call.environment), call.agent, at=timezone.now(), tool=tool)
    return [StandingGrant(grant.entry, grant) for grant in found]


def _covering(call: Call, tool: str, params: JsonObject, asker: str) -> StandingGrant | None:
    environment = environment_named(call.environment)
    found = grant_covering(environment, call.agent, tool=tool, params=params, asked_by=asker, at=timezone.now())
    return None if found is None else StandingGrant(found.entry, found)


def _use(grant: StandingGrant, call: Call) -> None:
    grant_used(grant.key, at=timezone.now(), call_id=call.id, session_key=call.context.session_key or "")


def _ask(request: ApprovalRequest) -> Asked:
    environment = environment_named(request.call.environment, find=environment_asking)
    _check_pause(environment, request.call)
    wish = request.wish
    draft = _draft(environment, request)
    if request.verdict is not None:
        draft = _with_command(draft, request, request.verdict)
    if wish is not None:
        draft = _with_wish(draft, wish, is_command=request.verdict is not None)
    timeout_s = None if wish is None else wish.timeout_ms / 1000
    if request.call.host is not None:
        draft, timeout_s = _for_host(draft, request.call.host, timeout_s)
    with transaction.atomic():
        approval = approval_request(draft, at=timezone.now(), timeout_s=timeout_s)
        if approval.call_id == request.call.id:
            untold_keep(
                request.call, request.action.tool, release=request.snapshot.dialect, sensitive=request.sensitive
            )
    return Asked(id=approval.pk, expires_at=approval.expires_at, call_id=approval.call_id)


def _check_pause(environment: Environment, call: Call) -> None:
    """Ask nobody for an agent that people denied too often: nothing of it waits, and it hears so at once."""
    pause = storm_pause(environment, call.agent, at=timezone.now())
    if pause is not None:
        message = pause_told(pause)
        judgement = Judgement(verdict="deny", layer=LAYER, rule=f"agent:{pause.name}", reason=message)
        raise RefusedError(PAUSED, message, judgement)


def _for_host(draft: ApprovalDraft, host: Host, timeout_s: float | None) -> tuple[ApprovalDraft, float]:
    """Bound a question by how long another machine waits: later, nobody's answer would reach it.

    It is a question of its own: of two equal calls each waits for, and runs by, its own answer.
    """
    usual_s = usual_wait_s(draft.environment) if timeout_s is None else timeout_s
    return replace(draft, question=None), min(usual_s, max(1.0, host.wait_s - HOST_MARGIN_S))


def _draft(environment: Environment, request: ApprovalRequest) -> ApprovalDraft:
    call, action = request.call, request.action
    return ApprovalDraft(
        environment=environment,
        call_id=call.id,
        kind="tool",
        tool=action.tool,
        action=action.to_json(),
        agent=call.agent,
        session_key=call.context.session_key or "",
        channel=call.channel,
        sender=sender_of(call),
        sender_name=call.context.sender_name or "",
        sender_is_owner=call.context.sender_is_owner,
        actor=call.actor,
        requester=call.requester or call.actor,
        question=_question(request),
        severity="normal",
        host="gateway" if call.host is None else call.host.name,
        params=call.params,
        evidence=[*_rewritten(action), *_variables(request)],
        unbound=request.unbound,
        asked=entry_decision(request.judgement),
        snapshot_digest=action.snapshot,
        trace_id=call.trace_id,
        sensitive_fields=request.sensitive,
        fallback_rule=request.fallback_rule if call.host is None else "",
        context=record_context(call.context),
    )


def _question(request: ApprovalRequest) -> dict[str, Any] | None:
    """Tell what makes a repeat of a question: the same agent wants the same in the same session, for the same person.

    Nothing joins a call without a session: nothing says that the same is not wanted twice. An asynchronous call has a
    callback of its own, which somebody waits for.
    """
    call, action = request.call, request.action
    if not call.context.session_key or call.deferral is not None:
        return None
    names = ("environment", "agent", "actor", "requester", "context", "tool", "params")
    return {name: getattr(action, name) for name in names}


def _rewritten(action: Action) -> list[dict[str, str]]:
    """Say which params are not as the agent sent them."""
    return [
        {"code": "hook_rewrote", "text": f"{change['member']}: {change['kind']} by {change['plugin']}"}
        for change in action.hook_changes
    ]


def _variables(request: ApprovalRequest) -> list[dict[str, str]]:
    """Name the variables that a call sets for its command; their values are shown to nobody."""
    names = sorted(asked_variables(request.call.params)) if request.verdict is not None else []
    return [{"code": "variables", "text": ", ".join(names)}] if names else []


def _with_command(draft: ApprovalDraft, request: ApprovalRequest, verdict: ExecVerdict) -> ApprovalDraft:
    action = request.action
    return replace(
        draft,
        kind="exec",
        severity="high" if any(hint.code in HARMFUL for hint in verdict.risks) else "normal",
        command=str(request.call.params.get("command", "")),
        argv=action.argv or (),
        resolved_path=action.executable,
        cwd=action.cwd,
        evidence=[
            *draft.evidence,
            *({"code": hint.code, "text": hint.text} for hint in (*verdict.evidence, *verdict.risks)),
        ],
        parts=verdict.parts,
        warnings=[*([verdict.message] if verdict.outcome == "ask" else []), *_fallback(draft.fallback_rule)],
        decisions=[each for each in Decision if verdict.may_be_remembered or each != Decision.ALLOW_ALWAYS],
    )


def _fallback(rule: str) -> list[str]:
    """Tell people that silence is an answer, where it is one."""
    return [f"if nobody answers in time, it runs ({rule})"] if rule else []


def _with_wish(draft: ApprovalDraft, wish: ApprovalWish, *, is_command: bool) -> ApprovalDraft:
    """Add what a plugin says. An "always" for a command answers the exec rules, never a plugin."""
    offered = [each for each in draft.decisions if each in wish.decisions]
    if is_command:
        offered = [each for each in offered if each != Decision.ALLOW_ALWAYS]
    return replace(
        draft,
        title=wish.title[:TITLE_LETTERS],
        severity="high" if wish.severity == "critical" else draft.severity,
        warnings=[*draft.warnings, *([wish.description] if wish.description else [])],
        decisions=offered,
    )
