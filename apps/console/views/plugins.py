"""Plugins: the list, one plugin, switching it off and on."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.access import Permission, may
from apps.console import catalogue as shown
from apps.console.answers import status_of
from apps.console.gate import ConsoleRequest, gate
from apps.console.hooks import failures_shown, hook_rows
from apps.console.registry_forms import EnabledForm
from apps.console.tool_reach import reach_of
from apps.console.views.agents import environment_chosen, writing
from apps.policies.references import references_to
from apps.policies.selectors import live_snapshot
from apps.registry.errors import RegistryError
from apps.registry.selectors import plugin_find
from apps.registry.services import plugin_set_enabled


@require_safe
@gate(Permission.POLICY_READ)
def plugins(request: ConsoleRequest) -> HttpResponse:
    """Every plugin that brings tools."""
    environment = environment_chosen(request)
    context = {"rows": shown.plugin_rows(environment)} | writing(request)
    return render(request, "console/plugins/plugins.html", context)


def plugin_asked(request: ConsoleRequest, key: str) -> "shown.PluginRecord":
    """Find the plugin of a page.

    Raises:
        Http404: there is none of that key, in any case.
    """
    record = plugin_find(environment_chosen(request), key)
    if record is None:
        raise Http404
    return record


@require_safe
@gate(Permission.POLICY_READ)
def plugin(request: ConsoleRequest, key: str) -> HttpResponse:
    """One plugin: its tools, its hooks with what failed, and which policies name it."""
    record = plugin_asked(request, key)
    return render(request, "console/plugins/plugin.html", _context(request, record) | writing(request))


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def plugin_enabled(request: ConsoleRequest, key: str) -> HttpResponse:
    """Ask before a plugin is switched off; POST switches it."""
    record = plugin_asked(request, key)
    form = EnabledForm(request.POST if request.method == "POST" else None, initial={"version": record.version})
    error = None
    if request.method == "POST" and form.is_valid():
        wanted = form.cleaned_data["enabled"]
        version = form.cleaned_data["version"]
        try:
            plugin_set_enabled(record, is_enabled=wanted, expected_version=version, by=request.user)
        except RegistryError as exc:
            error = exc
        else:
            messages.success(request, _("Switched on.") if wanted else _("Switched off."))
            return redirect("plugin", record.key)
    context = _context(request, record) | {"form": form, "error": error}
    return render(request, "console/plugins/enabled.html", context, status=200 if error is None else status_of(error))


def _context(request: ConsoleRequest, record: "shown.PluginRecord") -> dict[str, Any]:
    environment = environment_chosen(request)
    tools = shown.plugin_tools(environment, record)
    live = live_snapshot(environment)
    names = {each.record.name for each in tools}
    having = [] if live is None else [agent for agent, held in reach_of(live).counts.items() if names & held.keys()]
    return {
        "record": record,
        "tools": tools,
        "having": having,
        "references": shown.shown_references(references_to(environment, [record.key])),
        "rows": hook_rows(environment, record),
        "failures": failures_shown(environment, record),
        "may_audit": may(request.user, Permission.AUDIT_READ),
    }
