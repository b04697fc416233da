"""How answers to requests are to be given: how long people have, who answers, in whose place."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.access import Permission, may, require
from apps.approvals.access_changes import Rules, rules_now, rules_widen
from apps.approvals.answering import (
    answer_policy_save,
    answer_rule_add,
    answer_rule_change,
    answer_rule_move,
    answer_rule_remove,
    answer_rules,
    deputies,
    deputy_end,
    deputy_name,
)
from apps.approvals.errors import AnswerInvalidError
from apps.approvals.storming import storm_save
from apps.approvals.teams import team_add, team_change, team_remove, teams
from apps.console import answering as shown
from apps.console.forms import ConsoleForm
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import environment_chosen, writing
from apps.console.views.record_parts import as_changed, wider_page
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
def storm(request: ConsoleRequest) -> HttpResponse:
    """Change how often people deny an agent before it is paused."""
    form = shown.StormForm(request.POST)

    def save() -> None:
        posted = form.cleaned_data
        storm_save(
            environment_chosen(request),
            denials=posted["storm_denials"],
            minutes=posted["storm_minutes"],
            expected_version=posted["version"],
            by=request.user,
        )

    return _saved(request, form, save, "storm")


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
    asked = _widening(request, [each for each in rules_now(rule.environment).rules if each.pk != rule.pk])
    if asked is not None:
        return asked
    answer_rule_remove(rule, by=request.user)
    messages.success(request, _("Removed."))
    return redirect("answering")


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def rule(request: ConsoleRequest, rule_id: int) -> HttpResponse:
    """Change one rule."""
    record = answer_rules(environment_chosen(request)).filter(pk=rule_id).first()
    if record is None:
        raise Http404
    form = shown.RuleChangeForm(request.POST if request.method == "POST" else None, initial=shown.rule_initial(record))

    if form.is_valid():
        changed = as_changed(record, form.values())
        listed = [changed if each.pk == record.pk else each for each in rules_now(record.environment).rules]
        asked = _widening(request, listed, back=request.path, record=record)
        if asked is not None:
            return asked

    def save() -> None:
        answer_rule_change(record, expected_version=form.cleaned_data["version"], by=request.user, **form.values())

    return _changed(request, form, save, {"rule_record": record, "rule": form})


@require_POST
@gate(Permission.POLICY_WRITE)
def rule_move(request: ConsoleRequest, rule_id: int) -> HttpResponse:
    """Have a rule asked one place earlier or later."""
    listed = list(answer_rules(environment_chosen(request)))
    place = next((at for at, each in enumerate(listed) if each.pk == rule_id), None)
    if place is None:
        raise Http404
    target = place - 1 if request.POST.get("way") == "up" else place + 2
    if 0 <= target <= len(listed):
        before = listed[target].name if target < len(listed) else ""
        moved = [each for each in listed if each.pk != rule_id]
        moved.insert(target if target < place else place + 1, listed[place])
        asked = _widening(request, moved)
        if asked is not None:
            return asked
        answer_rule_move(listed[place], before=before, by=request.user)
    return redirect("answering")


@require_POST
@gate(Permission.POLICY_WRITE)
def team_new(request: ConsoleRequest) -> HttpResponse:
    """Add a team."""
    form = shown.TeamForm(request.POST)
    return _saved(
        request, form, lambda: team_add(environment_chosen(request), by=request.user, **form.values()), "team"
    )


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def team(request: ConsoleRequest, team_id: int) -> HttpResponse:
    """Change one team."""
    record = _team(request, team_id)
    form = shown.TeamChangeForm(request.POST if request.method == "POST" else None, initial=shown.team_initial(record))

    if form.is_valid():
        now = rules_now(record.environment)
        people = {**now.teams, record.name: form.values()["people"]}
        widens = rules_widen(record.environment, Rules(now.rules, people))
        asked = wider_page(request, widens, back=request.path, record=record)
        if asked is not None:
            return asked

    def save() -> None:
        team_change(record, expected_version=form.cleaned_data["version"], by=request.user, **form.values())

    return _changed(request, form, save, {"team_record": record, "team": form})


@require_POST
@gate(Permission.POLICY_WRITE)
def team_end(request: ConsoleRequest, team_id: int) -> HttpResponse:
    """Remove a team that no rule names."""
    team_remove(_team(request, team_id), by=request.user)
    messages.success(request, _("Removed."))
    return redirect("answering")


def _team(request: ConsoleRequest, team_id: int) -> "shown.Team":
    record = teams(environment_chosen(request)).filter(pk=team_id).first()
    if record is None:
        raise Http404
    return record


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


def _widening(
    request: ConsoleRequest,
    rules: "list[shown.AnswerRule]",
    *,
    back: str = "",
    record: "shown.AnswerRule | None" = None,
) -> HttpResponse | None:
    """Ask before rules are saved that let more people answer, or fewer of them decide."""
    environment = environment_chosen(request)
    after = Rules(rules, rules_now(environment).teams)
    widens = rules_widen(environment, after)
    return wider_page(request, widens, back=back or reverse("answering"), record=record)


def _saved(request: ConsoleRequest, form: ConsoleForm, save: Callable[[], object], name: str) -> HttpResponse:
    """Save a posted form, or show the page with what was refused in it."""
    return _kept(request, form, save) or _page(request, **{name: form})


def _changed(
    request: ConsoleRequest, form: ConsoleForm, save: Callable[[], object], context: dict[str, Any]
) -> HttpResponse:
    """Show the form of one record, and save what was posted in it."""
    if request.method == "POST":
        done = _kept(request, form, save)
        if done is not None:
            return done
    status = 422 if request.method == "POST" else 200
    return render(request, "console/approvals/answering_record.html", context, status=status)


def _kept(request: ConsoleRequest, form: ConsoleForm, save: Callable[[], object]) -> HttpResponse | None:
    if not form.is_valid():
        return None
    try:
        save()
    except AnswerInvalidError as error:
        form.take_refusal(error)
    except RecordChangedError as error:
        form.add_error(None, error.message)
    else:
        messages.success(request, _("Saved. It holds from the next request on."))
        return redirect("answering")
    return None


def _page(request: ConsoleRequest, **posted: ConsoleForm) -> HttpResponse:
    environment = environment_chosen(request)
    forms: dict[str, Any] = {
        "wait": shown.WaitForm(initial=shown.wait_form(environment)),
        "storm": shown.StormForm(initial=shown.storm_form(environment)),
        "rule": shown.RuleForm(),
        "team": shown.TeamForm(),
        "deputy": shown.DeputyForm(),
    } | posted
    context = shown.page_of(environment) | writing(request) | forms
    context |= {
        "may_resolve": may(request.user, Permission.APPROVALS_RESOLVE),
        "may_manage": may(request.user, Permission.USERS_MANAGE),
    }
    return render(request, "console/approvals/answering.html", context, status=422 if posted else 200)
