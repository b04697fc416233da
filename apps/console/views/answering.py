"""How answers to requests are to be given: how long people have, who answers, in whose place."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.access import Permission, may, require
from apps.approvals.answering import (
    answer_policy_save,
    answer_rule_add,
    answer_rule_remove,
    answer_rules,
    deputies,
    deputy_end,
    deputy_name,
)
from apps.approvals.errors import AnswerInvalidError
from apps.console import answering as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import environment_chosen, writing
from apps.registry.errors import RecordChangedError


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.APPROVALS_READ)
def answering(request: ConsoleRequest) -> HttpResponse:
    """Everything about answering, with a form for whoever may change it."""
    if request.method != "POST":
        return _page(request)
    require(request.user, Permission.POLICY_WRITE)
    form = shown.WaitForm(request.POST)

    def save() -> None:
        version, wait_s = form.cleaned_data["version"], form.cleaned_data["wait_s"]
        answer_policy_save(environment_chosen(request), wait_s=wait_s, expected_version=version, by=request.user)

    return _saved(request, form, save, "wait")


@require_POST
@gate(Permission.POLICY_WRITE)
def rule_add(request: ConsoleRequest) -> HttpResponse:
    """Add a rule of who answers what."""
    form = shown.RuleForm(request.POST)
    return _saved(
        request, form, lambda: answer_rule_add(environment_chosen(request), by=request.user, **form.values()), "rule"
    )


@require_POST
@gate(Permission.POLICY_WRITE)
def rule_remove(request: ConsoleRequest) -> HttpResponse:
    """Remove a rule by its name."""
    rule = answer_rules(environment_chosen(request)).filter(name=request.POST.get("name", "")).first()
    if rule is None:
        raise Http404
    answer_rule_remove(rule, by=request.user)
    messages.success(request, _("Removed."))
    return redirect("answering")


@require_POST
@gate(Permission.APPROVALS_RESOLVE)
def deputy_add(request: ConsoleRequest) -> HttpResponse:
    """Name who answers in one's own place."""
    form = shown.DeputyForm(request.POST)

    def save() -> None:
        named = form.cleaned_data
        deputy_name(request.user, deputy=named["deputy"], until=named["until"], at=timezone.now())

    return _saved(request, form, save, "deputy")


@require_POST
@gate(Permission.APPROVALS_RESOLVE)
def deputy_remove(request: ConsoleRequest) -> HttpResponse:
    """Have nobody answer in somebody's place any more."""
    text = request.POST.get("id", "")
    row = deputies(timezone.now()).filter(pk=int(text)).first() if text.isdecimal() and len(text) < 18 else None
    if row is None:
        raise Http404
    deputy_end(row, by=request.user)
    messages.success(request, _("Removed."))
    return redirect("answering")


def _saved(request: ConsoleRequest, form: shown.RefusableForm, save: Callable[[], object], name: str) -> HttpResponse:
    """Save a posted form, or show the page with what was refused in it."""
    if form.is_valid():
        try:
            save()
        except AnswerInvalidError as error:
            form.take_refusal(error)
        except RecordChangedError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, _("Saved. It holds from the next request on."))
            return redirect("answering")
    return _page(request, **{name: form})


def _page(request: ConsoleRequest, **posted: shown.RefusableForm) -> HttpResponse:
    environment = environment_chosen(request)
    forms: dict[str, Any] = {
        "wait": shown.WaitForm(initial=shown.wait_form(environment)),
        "rule": shown.RuleForm(),
        "deputy": shown.DeputyForm(),
    } | posted
    context = shown.page_of(environment) | writing(request) | forms
    context |= {
        "may_resolve": may(request.user, Permission.APPROVALS_RESOLVE),
        "may_manage": may(request.user, Permission.USERS_MANAGE),
    }
    return render(request, "console/approvals/answering.html", context, status=422 if posted else 200)
