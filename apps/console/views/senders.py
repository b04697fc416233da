"""Rules by sender: the lists of agents and of everybody, one rule, a new one."""

from functools import partial
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission, require
from apps.console import groups as group_shown
from apps.console import senders as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.group_forms import SenderForm
from apps.console.ladder import Speaker
from apps.console.views.agents import agent_asked, environment_chosen, is_part, writing
from apps.console.views.draft_parts import SHOWN, Saving, draft_add, draft_context, draft_remove, draft_save
from apps.console.views.groups import group_asked
from apps.console.views.sender_parts import Sides, rules_context, sides_of, tried
from apps.console.vocabulary import vocabulary_of
from apps.firewall.engine.ladder import SENDER_LAYER
from apps.policies.channels import rule_blank, rule_find
from apps.policies.services import sender_rule_create


def scope_asked(request: ConsoleRequest, where: dict[str, Any]) -> shown.Scope:
    """Find the group or agent whose rules a page is about; neither stands for everybody.

    Raises:
        Http404: there is none in the chosen environment.
    """
    environment = environment_chosen(request)
    if "group_id" in where:
        return shown.Scope(environment, group=group_asked(request, where["group_id"]))
    return shown.Scope(environment, agent=agent_asked(request, where["key"]) if "key" in where else None)


def _rule_asked(
    request: ConsoleRequest, where: dict[str, Any], record_id: UUID
) -> "tuple[shown.Scope, shown.RuleRecord]":
    scope = scope_asked(request, where)
    rule = rule_find(scope.environment, record_id, **scope.parents)
    if rule is None:
        raise Http404
    return scope, rule


@require_safe
@gate(Permission.POLICY_READ)
def senders(request: ConsoleRequest, /, **where: Any) -> HttpResponse:
    """The rules by sender of an agent, or of every agent, and which of them wins for somebody."""
    scope, sides = scope_asked(request, where), sides_of(request)
    engine = sides[0].engine
    context = tried(request, scope, sides, engine) | writing(request)
    if is_part(request):
        return render(request, "console/senders/_tried.html", context)
    context |= rules_context(request, scope)
    context |= {
        "record": scope.agent,
        "agent_key": scope.agent.key if scope.agent is not None else "",
        "tab": "senders",
        "is_known": SENDER_LAYER in engine.dialect.layers,
    }
    return render(request, "console/senders/senders.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def sender_new(request: ConsoleRequest, /, **where: Any) -> HttpResponse:
    """A new rule."""
    scope = scope_asked(request, where)
    rule = rule_blank(scope.environment, **scope.parents)
    form = SenderForm(request.POST if request.method == "POST" else None, record=rule)
    if draft_add(request, form, partial(sender_rule_create, **scope.parents)):
        return redirect(scope.url)
    return _page(request, scope, rule, form, Saving(status=422 if form.is_bound and form.errors else 200))


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def sender(request: ConsoleRequest, /, record_id: UUID, **where: Any) -> HttpResponse:
    """One rule; POST saves it to the draft."""
    if request.method == "POST":
        require(request.user, Permission.POLICY_WRITE)
    scope, rule = _rule_asked(request, where, record_id)
    form = SenderForm(request.POST if request.method == "POST" else None, record=rule)
    saving = draft_save(request, rule, form)
    if saving.is_saved:
        return redirect(scope.url)
    return _page(request, scope, rule, form, saving)


@require_POST
@gate(Permission.POLICY_READ)
def sender_preview(request: ConsoleRequest, /, record_id: UUID | None = None, **where: Any) -> HttpResponse:
    """Which rule would win with this one as it is typed; nothing is stored."""
    if record_id is None:
        scope = scope_asked(request, where)
        rule = rule_blank(scope.environment, **scope.parents)
    else:
        scope, rule = _rule_asked(request, where, record_id)
    form = SenderForm(request.POST if "key" in request.POST else None, record=rule)
    if is_part(request):
        return render(request, "console/senders/_preview.html", _parts(request, scope, rule, form, sides_of(request)))
    return _page(request, scope, rule, form, SHOWN)


@require_POST
@gate(Permission.POLICY_WRITE)
def sender_delete(request: ConsoleRequest, /, record_id: UUID, **where: Any) -> HttpResponse:
    """Take a rule out of the draft."""
    scope, rule = _rule_asked(request, where, record_id)
    draft_remove(request, rule)
    return redirect(scope.url)


def _page(
    request: ConsoleRequest, scope: shown.Scope, rule: "shown.RuleRecord", form: SenderForm, saving: Saving
) -> HttpResponse:
    is_new, sides = shown.is_new(rule), sides_of(request)
    context = draft_context(request, rule, form, saving) | _parts(request, scope, rule, form, sides)
    context |= {
        "scope": scope,
        "rule": None if is_new else rule,
        "preview_url": scope.address("sender-new-preview") if is_new else scope.address("sender-preview", rule.pk),
        "vocabulary": vocabulary_of(sides[0], frozenset()),
    }
    if not is_new:
        context["delete_url"] = scope.address("sender-delete", rule.pk)
    return render(request, "console/senders/sender.html", context, status=saving.status)


def _parts(
    request: ConsoleRequest, scope: shown.Scope, rule: "shown.RuleRecord", form: SenderForm, sides: Sides
) -> dict[str, Any]:
    """What changes while a form is typed: its lists beside what is live, remarks on the key, the ladder."""
    draft, live = sides
    values = form.values() | ({} if form.is_bound else {"key": rule.key})
    values["key"] = values["key"] or ""
    known = shown.live_rule(live, scope, rule.key) if rule.key else None
    return {
        "fields": group_shown.list_fields(scope.environment, draft, values, known, has_live=known is not None),
        "key_remarks": shown.key_remarks(scope, rule, values["key"]) if values["key"] else [],
        **tried(request, scope, sides, shown.engine_typed(draft, scope, rule, values), Speaker.of_key(values["key"])),
    }
