"""Hooks: the list with what failed, one hook, the form, trying one out."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission, may
from apps.console import hooks as shown
from apps.console.answers import status_of
from apps.console.gate import ConsoleRequest, gate
from apps.console.hook_forms import HookForm, HookPolicyForm, HookTryForm
from apps.console.posted import version_seen
from apps.console.sources import settings_shown
from apps.console.views.agents import environment_chosen, writing
from apps.console.views.record_parts import as_changed, form_status, record_remove, record_save, wider_page
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.hook_runners.workers import InstalledPlugin
from apps.registry.access_changes import hook_policy_widens, hook_widens
from apps.registry.errors import RegistryError
from apps.registry.hooks import hook_try, installed_plugins, limit_ms
from apps.registry.selectors import hook_find, hook_policy, plugins_of
from apps.registry.services import environment_plugin, hook_create, hook_delete, hook_policy_save, hook_save


@require_safe
@gate(Permission.POLICY_READ)
def hooks(request: ConsoleRequest) -> HttpResponse:
    """Every hook, what came of it, and what failed last."""
    return _hooks_page(request)


def _hooks_page(
    request: ConsoleRequest, form: HookPolicyForm | None = None, error: RegistryError | None = None
) -> HttpResponse:
    environment = environment_chosen(request)
    policy = hook_policy(environment)
    context = {
        "rows": shown.hook_rows(environment),
        "failures": shown.failures_shown(environment),
        "release": environment.dialect,
        "policy": policy,
        "form": form or HookPolicyForm(initial={"version": policy.version, "is_strict": policy.is_strict}),
        "error": error,
    }
    status = 422 if form is not None and error is None else 200 if error is None else status_of(error)
    return render(request, "console/hooks/hooks.html", context | _rights(request), status=status)


@require_POST
@gate(Permission.PUBLISH)
def hook_policy_change(request: ConsoleRequest) -> HttpResponse:
    """Say whether a hook that fails stops the call under the older release, too."""
    form = HookPolicyForm(request.POST)
    if not form.is_valid():
        return _hooks_page(request, form)
    environment, is_strict = environment_chosen(request), form.cleaned_data["is_strict"]
    before = hook_policy(environment)
    widens = hook_policy_widens(environment, before, is_strict=is_strict)
    asked = wider_page(request, widens, back=reverse("hooks"), record=before)
    if asked is not None:
        return asked
    try:
        hook_policy_save(
            environment,
            is_strict=is_strict,
            expected_version=form.cleaned_data["version"],
            by=request.user,
        )
    except RegistryError as exc:
        return _hooks_page(request, form, exc)
    messages.success(request, _("Saved. It holds from the next call on."))
    return redirect("hooks")


def hook_asked(request: ConsoleRequest, name: str) -> "shown.HookRecord":
    """Find the hook of a page.

    Raises:
        Http404: there is none of that name.
    """
    record = hook_find(environment_chosen(request), name)
    if record is None:
        raise Http404
    return record


@require_safe
@gate(Permission.POLICY_READ)
def hook(request: ConsoleRequest, name: str) -> HttpResponse:
    """One hook: how it is reached, what came of it, what failed."""
    return _hook_page(request, hook_asked(request, name), HookTryForm())


def _hook_page(
    request: ConsoleRequest, record: "shown.HookRecord", form: HookTryForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    context = {
        "record": record,
        "shown": shown.hook_shown(record),
        "settings": settings_shown(record),
        "limit_ms": limit_ms(record),
        "failures": shown.failures_of(record),
        "form": form,
    }
    return render(request, "console/hooks/hook.html", context | more | _rights(request), status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.PUBLISH)
def hook_new(request: ConsoleRequest) -> HttpResponse:
    """Choose a kind, then say whose it is and how it is reached."""
    environment, kind = environment_chosen(request), request.GET.get("kind", "")
    if kind not in shown.KINDS:
        context = {"kinds": shown.KINDS, "has_plugins": plugins_of(environment).exists()}
        return render(request, "console/hooks/kinds.html", context)
    initial = {"plugin": request.GET.get("plugin", "")}
    data = request.POST if request.method == "POST" else None
    form = HookForm(data, kind=kind, environment=environment, initial=initial)

    def create() -> "shown.HookRecord":
        given = form.cleaned_data
        plugin = environment_plugin(environment, given["plugin"])
        named = {"name": given["name"], "event": given["event"], "kind": kind}
        return hook_create(plugin, settings=form.settings(), by=request.user, **named, **form.options())

    made = record_save(request, form, create, told=_("Added. It is asked from the next call on.")).record
    return redirect("hook", made.name) if made else _form_page(request, form, record=None)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.PUBLISH)
def hook_edit(request: ConsoleRequest, name: str) -> HttpResponse:
    """Change when a hook is asked and how it is reached."""
    record = hook_asked(request, name)
    data = request.POST if request.method == "POST" else None
    form = HookForm(data, kind=record.kind, environment=record.environment, hook=record)

    def save() -> "shown.HookRecord":
        version = form.cleaned_data["version"]
        return hook_save(record, settings=form.settings(), expected_version=version, by=request.user, **form.options())

    if form.is_valid():
        widens = hook_widens(record, as_changed(record, form.options()))
        asked = wider_page(request, widens, back=reverse("hook", args=[record.name]), record=record)
        if asked is not None:
            return asked
    saved = record_save(request, form, save, told=_("Saved."))
    if saved.record:
        return redirect("hook", saved.record.name)
    return _form_page(request, form, record=record, conflict=saved.is_conflict)


def _form_page(request: ConsoleRequest, form: HookForm, **more: Any) -> HttpResponse:
    installed = _installed() if form.kind == "python_hook" else ()
    form.offer(installed)
    context = {"form": form, "kind_word": shown.KINDS[form.kind], "installed": installed, **more}
    status = form_status(form, conflict=more.get("conflict", False))
    return render(request, "console/hooks/form.html", context, status=status)


def _installed() -> tuple[InstalledPlugin, ...]:
    try:
        return installed_plugins()
    except FirewallError:
        return ()  # the form takes any entry point; the list only saves typing


@require_POST
@gate(Permission.PUBLISH)
def hook_enabled(request: ConsoleRequest, name: str) -> HttpResponse:
    """Switch a hook on or off; calls meet the change at once."""
    record = hook_asked(request, name)
    wanted = request.POST.get("enabled") == "yes"
    widens = hook_widens(record, as_changed(record, {"is_enabled": wanted}))
    asked = wider_page(request, widens, back=reverse("hook", args=[record.name]), record=record)
    if asked is not None:
        return asked
    try:
        hook_save(record, is_enabled=wanted, expected_version=version_seen(request), by=request.user)
    except RegistryError as exc:
        return _hook_page(request, record, HookTryForm(), status=status_of(exc), error=exc)
    messages.success(request, _("Switched on.") if wanted else _("Switched off."))
    return redirect("hook", record.name)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.PUBLISH)
def hook_remove(request: ConsoleRequest, name: str) -> HttpResponse:
    """Ask before a hook goes."""
    record = hook_asked(request, name)
    error = None
    if request.method == "POST":
        try:
            record_remove(request, record, hook_delete)
        except RegistryError as exc:
            error = exc
        else:
            return redirect("hooks")
    context = {
        "record": record,
        "shown": shown.hook_shown(record),
        "error": error,
        "widens": hook_widens(record, None),
    }
    return render(request, "console/hooks/remove.html", context, status=200 if error is None else status_of(error))


@require_POST
@gate(Permission.PUBLISH)
def hook_trial(request: ConsoleRequest, name: str) -> HttpResponse:
    """Ask a hook about a call that nobody makes, and show what it says."""
    record = hook_asked(request, name)
    form = HookTryForm(request.POST)
    if not form.is_valid():
        return _hook_page(request, record, form, status=422)
    try:
        trial = hook_try(record, tool=form.cleaned_data["tool"], params=form.cleaned_data["params"])
    except FirewallError as exc:
        return _hook_page(request, record, form, status=status_of(exc), error=exc)
    failure = None if trial.failure is None else shown.FAILURES.get(trial.failure.kind, shown.OTHER)
    return _hook_page(request, record, form, trial=trial, failure=failure)


def _rights(request: ConsoleRequest) -> dict[str, Any]:
    rights = {
        "may_publish": may(request.user, Permission.PUBLISH),
        "may_audit": may(request.user, Permission.AUDIT_READ),
    }
    return writing(request) | rights
