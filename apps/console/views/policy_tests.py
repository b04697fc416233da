"""Policy tests: the list with what draft and live answer, one test, and the records that they cover."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission, require
from apps.console import policy_tests as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.policy_test_forms import PolicyTestForm, initial_of
from apps.console.posted import version_seen
from apps.console.situations import Situation, choices_of, configured_models
from apps.console.views.agents import environment_chosen, is_part, writing
from apps.console.views.record_parts import form_status, record_remove, record_save
from apps.firewall.engine.context import ContextError
from apps.firewall.engine.snapshot import SnapshotError
from apps.policies.proving import policy_test_get
from apps.policies.selectors import draft_snapshot, live_publication
from apps.policies.services import policy_test_create, policy_test_delete, policy_test_save

FIELDS = ("agent", "where", "sender", "owner", "model", "sandbox", "depth")


def test_asked(request: ConsoleRequest, test_id: UUID) -> "shown.TestRecord":
    """Find the policy test of a page.

    Raises:
        Http404: there is none in the chosen environment.
    """
    record = policy_test_get(environment_chosen(request), test_id)
    if record is None:
        raise Http404
    return record


@require_safe
@gate(Permission.POLICY_READ)
def policy_tests(request: ConsoleRequest) -> HttpResponse:
    """Every policy test with what draft and live answer to it; the fragment renews itself when the draft changes."""
    given, environment = request.GET, environment_chosen(request)
    query, chosen = given.get("q", "")[:200].strip(), given.get("show", "")
    tests = shown.tests_shown(environment, shown=chosen, query=query, is_all="all" in given)
    renewed = f"{reverse('policy-tests')}?{given.urlencode()}" if given else reverse("policy-tests")
    context = {"tests": tests, "live": live_publication(environment), "renew_url": renewed} | writing(request)
    template = "_list.html" if is_part(request) else "policy_tests.html"
    return render(request, f"console/policy_tests/{template}", context)


@require_safe
@gate(Permission.POLICY_READ)
def policy_test_coverage(request: ConsoleRequest) -> HttpResponse:
    """Which records of the draft decided how many of the tests: a fragment, or a page where no script asked for it."""
    try:
        context: dict[str, Any] = {"kinds": shown.coverage_shown(environment_chosen(request))}
    except SnapshotError as error:
        context = {"error": error}
    template = "_coverage.html" if is_part(request) else "coverage.html"
    return render(request, f"console/policy_tests/{template}", context)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def policy_test_new(request: ConsoleRequest) -> HttpResponse:
    """A new policy test: empty, of a recorded call (`?call=`), or of a situation of the explorer (`?tool=`)."""
    environment = environment_chosen(request)
    initial, mistake = ({}, "") if request.method == "POST" else _prefilled(request)
    form = _form(request, {"situation": Situation()} | initial)
    if request.POST.get("do") == "try":
        return _tried(request, form, None)

    def create() -> "shown.TestRecord":
        given = form.cleaned_data
        origin = shown.origin_of(environment, given["origin"], given["call"])
        return policy_test_create(environment, by=request.user, **form.values(), **origin)

    if record_save(request, form, create, told=_("Added. No publication may fail it from now on.")).record:
        return redirect("policy-tests")
    return _page(request, form, None, mistake=mistake, lacks=initial.get("lacks", ()))


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def policy_test(request: ConsoleRequest, test_id: UUID) -> HttpResponse:
    """One policy test; POST saves it."""
    record = test_asked(request, test_id)
    form = _form(request, initial_of(record))
    if request.POST.get("do") == "try":
        return _tried(request, form, record)
    if request.method == "POST":
        require(request.user, Permission.POLICY_WRITE)

    def save() -> "shown.TestRecord":
        version = form.cleaned_data["version"] or 0
        return policy_test_save(record, expected_version=version, by=request.user, **form.values())

    saved = record_save(request, form, save, told=_("Saved."))
    if saved.record:
        return redirect("policy-tests")
    return _page(request, form, record, conflict=saved.is_conflict)


@require_POST
@gate(Permission.POLICY_WRITE)
def policy_test_switch(request: ConsoleRequest, test_id: UUID) -> HttpResponse:
    """Switch a policy test off, or on again."""
    is_on = request.POST.get("on") == "on"
    policy_test_save(
        test_asked(request, test_id), is_enabled=is_on, expected_version=version_seen(request), by=request.user
    )
    messages.success(request, _("In force again.") if is_on else _("Switched off: publications may fail it."))
    return redirect("policy-tests")


@require_POST
@gate(Permission.POLICY_WRITE)
def policy_test_remove(request: ConsoleRequest, test_id: UUID) -> HttpResponse:
    """Remove a policy test."""
    record_remove(request, test_asked(request, test_id), policy_test_delete)
    return redirect("policy-tests")


def _form(request: ConsoleRequest, initial: dict[str, Any]) -> PolicyTestForm:
    return PolicyTestForm(request.POST if request.method == "POST" else None, initial=initial)


def _prefilled(request: ConsoleRequest) -> tuple[dict[str, Any], str]:
    """Read what a new test is to be made of.

    Raises:
        Http404: no such call is on record here.
    """
    environment = environment_chosen(request)
    call = request.GET.get("call", "")
    if call:
        require(request.user, Permission.AUDIT_READ)
        found = shown.call_initial(environment, call)
        if found is None:
            raise Http404
        return found, ""
    try:
        return shown.situation_initial(environment, request.GET.dict()), ""
    except ContextError as error:
        return {}, error.message


def _tried(request: ConsoleRequest, form: PolicyTestForm, record: "shown.TestRecord | None") -> HttpResponse:
    trial = shown.case_trial(environment_chosen(request), form)
    if is_part(request):
        return render(request, "console/policy_tests/_answer.html", {"trial": trial})
    return _page(request, form, record, trial=trial)


def _page(
    request: ConsoleRequest, form: PolicyTestForm, record: "shown.TestRecord | None", **more: Any
) -> HttpResponse:
    environment = environment_chosen(request)
    snapshot = draft_snapshot(environment)
    choices = choices_of(snapshot, form.situation, models=configured_models(environment))
    context = {
        "form": form,
        "record": record,
        "tools": snapshot.tool_names,
        "choices": [choices[name] for name in FIELDS],
        "is_json": form["context"].value() not in (None, ""),
        "trial": more.get("trial") or shown.case_trial(environment, form),
        **more,
        **writing(request),
    }
    is_conflict = more.get("conflict", False)
    status = form_status(form, conflict=is_conflict) if "trial" not in more else 200
    return render(request, "console/policy_tests/policy_test.html", context, status=status)
