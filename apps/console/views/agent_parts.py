"""The other pages of an agent: its commands, its sandbox, its rules by provider, its history."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission, require
from apps.console import agents as shown
from apps.console.exec_parts import parts_of, rules_by_agent, save_sent
from apps.console.gate import ConsoleRequest, gate
from apps.console.history import history_of
from apps.console.policy_forms import INHERIT, LISTS, ProviderForm, SandboxForm
from apps.console.posted import version_seen
from apps.console.situations import configured_models
from apps.console.undoing import tell_saved, writer_of
from apps.console.views.agents import agent_asked, environment_chosen, writing
from apps.console.vocabulary import vocabulary_of
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.exec_policy import exec_rules
from apps.policies.errors import ConflictError, RecordInvalidError
from apps.policies.selectors import (
    agent_keys,
    allowlist,
    draft_snapshot,
    known_profiles,
    live_snapshot,
    record_get,
    unmodelled,
)
from apps.policies.services import provider_policy_create, record_delete, record_update


def _basics(request: ConsoleRequest, record: "shown.AgentRecord", tab: str) -> dict[str, Any]:
    return {"record": record, "agent_key": record.key, "tab": tab, **writing(request)}


# --- commands ---


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def agent_exec(request: ConsoleRequest, key: str) -> HttpResponse:
    """How an agent's commands are judged; POST changes one of the records behind it."""
    record = agent_asked(request, key)
    environment = environment_chosen(request)
    parts = parts_of(request, environment, record)
    status, saved = save_sent(request, parts)
    if saved is not None:
        tell_saved(request, _("Saved to the draft."), saved)
        return redirect("agent-exec", record.key)
    draft = draft_snapshot(environment)
    entries = [entry for entry in allowlist(environment) if entry.approvals_agent.key in {record.key, "*"}]
    context = _basics(request, record, "exec") | {
        "parts": parts,
        "has_modes": draft.engine.dialect.exec_modes,
        "rules": exec_rules(draft.exec_settings(record.key), dialect=draft.dialect),
        "entries": entries,
    }
    return render(request, "console/agents/exec.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def exec_rules_of_all(request: ConsoleRequest) -> HttpResponse:
    """How commands of every agent are judged, where an agent says nothing of its own."""
    environment = environment_chosen(request)
    parts = parts_of(request, environment, None)
    status, saved = save_sent(request, parts)
    if saved is not None:
        tell_saved(request, _("Saved to the draft."), saved)
        return redirect("exec-rules")
    draft = draft_snapshot(environment)
    rules = {key: exec_rules(draft.exec_settings(key), dialect=draft.dialect) for key in agent_keys(environment)}
    context = writing(request) | {
        "parts": parts,
        "has_modes": draft.engine.dialect.exec_modes,
        "agents": rules_by_agent(rules),
        "entries": [entry for entry in allowlist(environment) if entry.approvals_agent.key == "*"],
    }
    return render(request, "console/agents/exec_rules.html", context, status=status)


# --- sandbox ---


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def agent_sandbox(request: ConsoleRequest, key: str) -> HttpResponse:
    """An agent's lists for sandboxed sessions; POST saves them to the draft."""
    record = agent_asked(request, key)
    status, conflict, form = 200, None, SandboxForm(request.POST or None)
    if request.method == "POST":
        require(request.user, Permission.POLICY_WRITE)
        status = 422
        if form.is_valid():
            changes = form.changes(record)
            wanted = {name: each for name, each in changes.items() if request.POST.get(f"choose_{name}") != "theirs"}
            try:
                saved = record_update(record, wanted, by=request.user, expected_version=form.cleaned_data["version"])
            except ConflictError as error:
                status, conflict, record = 409, shown.conflict_of(error), error.current
            except RecordInvalidError as error:
                form.take_refusal(error)
            else:
                tell_saved(request, _("Saved to the draft."), saved, was=record)
                return redirect("agent-sandbox", record.key)
    context = _basics(request, record, "sandbox") | _sandbox_parts(request, record, form)
    context |= {"conflict": conflict, "mistakes": shown.mistakes_of(form) if request.method == "POST" else []}
    return render(request, "console/agents/sandbox.html", context, status=status)


def _sandbox_parts(request: ConsoleRequest, record: "shown.AgentRecord", form: SandboxForm) -> dict[str, Any]:
    environment = environment_chosen(request)
    draft, live = draft_snapshot(environment), live_snapshot(environment)
    values = {name: getattr(record, f"sandbox_{name}") for name in LISTS}
    if form.is_bound and hasattr(form, "cleaned_data"):
        values |= {name: form.cleaned_data.get(f"sandbox_{name}", values[name]) for name in LISTS}
    rules = shown.live_rules(live, record.key)
    sandbox = unmodelled(record).get("sandbox")
    return {
        "fields": shown.list_fields(
            environment,
            draft,
            values,
            rules.sandbox if rules is not None else None,
            has_live=rules is not None,
            prefix="sandbox_",
        ),
        "settings": sandbox if isinstance(sandbox, dict) else {},
        "version": form.data.get("version", record.version) if form.errors else record.version,
        "knows_also_allow": dialect_named(environment.dialect).sandbox_also_allow,
        "vocabulary": vocabulary_of(draft, shown.words_in_use(draft, record.key)),
    }


# --- rules by provider ---


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def agent_provider_new(request: ConsoleRequest, key: str) -> HttpResponse:
    """A new rule by provider."""
    record = agent_asked(request, key)
    form = ProviderForm(request.POST or None, profiles=known_profiles(record.environment))
    if request.method == "POST" and form.is_valid():
        fields = {name: value for name, value in form.changes(None).items() if value is not None}
        try:
            added = provider_policy_create(
                record.environment, form.cleaned_data["key"], by=request.user, agent=record, **fields
            )
        except RecordInvalidError as error:
            form.take_refusal(error)
        else:
            tell_saved(request, _("Saved to the draft."), added)
            return redirect("agent", record.key)
    return _provider_page(request, record, None, form, 422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def agent_provider(request: ConsoleRequest, key: str, record_id: UUID) -> HttpResponse:
    """One rule by provider; POST saves it to the draft."""
    record, rule = _rule_asked(request, key, record_id)
    initial = {name: getattr(rule, name) for name in (*LISTS, "key", "version")}
    initial["profile"] = rule.profile or INHERIT
    form = ProviderForm(request.POST or None, initial=initial, profiles=known_profiles(record.environment))
    status, conflict = 200, None
    if request.method == "POST":
        status = 422
        if form.is_valid():
            changes = form.changes(rule) | {"key": form.cleaned_data["key"]}
            wanted = {name: each for name, each in changes.items() if request.POST.get(f"choose_{name}") != "theirs"}
            try:
                saved = record_update(rule, wanted, by=request.user, expected_version=form.cleaned_data["version"] or 0)
            except ConflictError as error:
                status, conflict = 409, shown.conflict_of(error)
            except RecordInvalidError as error:
                form.take_refusal(error)
            else:
                tell_saved(request, _("Saved to the draft."), saved, was=rule)
                return redirect("agent", record.key)
    return _provider_page(request, record, rule, form, status, conflict)


@require_POST
@gate(Permission.POLICY_WRITE)
def agent_provider_delete(request: ConsoleRequest, key: str, record_id: UUID) -> HttpResponse:
    """Take a rule by provider out of the draft."""
    record, rule = _rule_asked(request, key, record_id)
    record_delete(rule, by=request.user, expected_version=version_seen(request))
    tell_saved(request, _("Removed from the draft."), rule)
    return redirect("agent", record.key)


def _rule_asked(request: ConsoleRequest, key: str, record_id: UUID) -> "tuple[shown.AgentRecord, shown.ProviderRecord]":
    record = agent_asked(request, key)
    rule: Any = record_get(record.environment, "provider", record_id)
    if rule is None or rule.agent_id != record.pk:
        raise Http404
    return record, rule


def _provider_page(
    request: ConsoleRequest,
    record: "shown.AgentRecord",
    rule: "shown.ProviderRecord | None",
    form: ProviderForm,
    status: int,
    conflict: shown.Conflict | None = None,
) -> HttpResponse:
    environment = environment_chosen(request)
    draft, live = draft_snapshot(environment), live_snapshot(environment)
    values: Mapping[str, Any] = {name: getattr(rule, name, None) for name in LISTS}
    if form.is_bound and hasattr(form, "cleaned_data"):
        values = {**values, **{name: form.cleaned_data.get(name, values[name]) for name in LISTS}}
    rules = shown.live_rules(live, record.key)
    block = rules.by_provider.get(rule.key) if rules is not None and rule is not None else None
    context = _basics(request, record, "agent") | {
        "rule": rule,
        "form": form,
        "version": conflict.version if conflict else form["version"].value() or 0,
        "conflict": conflict,
        "fields": shown.list_fields(
            environment, draft, values, None if block is None else block.policy, has_live=block is not None
        ),
        "mistakes": shown.mistakes_of(form) if form.is_bound else [],
        "models": configured_models(environment),
        "vocabulary": vocabulary_of(draft, shown.words_in_use(draft, record.key)),
    }
    return render(request, "console/agents/provider.html", context, status=status)


# --- history ---


@require_safe
@gate(Permission.POLICY_READ)
def agent_history(request: ConsoleRequest, key: str) -> HttpResponse:
    """Who changed what of an agent, and when."""
    record = agent_asked(request, key)
    context = _basics(request, record, "history") | {"entries": history_of(record, by=writer_of(request))}
    return render(request, "console/agents/history.html", context)
