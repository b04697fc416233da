"""How runs are offered their tools: `tools.toolSearch` of the draft, beside what is live."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.accounts.access import Permission, require
from apps.console.gate import ConsoleRequest, gate
from apps.console.tool_search_forms import PLACE, SettingsForm, conflict_of, fields_of, settings_page
from apps.console.undoing import tell_saved
from apps.console.views.agents import environment_chosen, writing
from apps.firewall.tools.search.settings import BLOCK
from apps.policies.document.members import inside
from apps.policies.errors import ConflictError, RecordInvalidError
from apps.policies.selectors import global_policy
from apps.policies.services import kept_update


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def settings(request: ConsoleRequest) -> HttpResponse:
    """The settings of the draft; POST saves them to it."""
    policy = global_policy(environment_chosen(request))
    if policy is None:
        return render(request, "console/tool_search/settings.html", {"policy": None} | writing(request))
    stored = inside(policy.extra, PLACE)
    if request.method == "POST":
        require(request.user, Permission.POLICY_WRITE)
        return _save(request, policy, stored)
    return _page(request, policy, stored, SettingsForm(initial=fields_of(stored) | {"version": policy.version}))


def _save(request: ConsoleRequest, policy: Any, stored: Any) -> HttpResponse:
    form = SettingsForm(request.POST)
    if not form.is_valid():
        return _page(request, policy, stored, form, status=422)
    value = stored if request.POST.get(f"choose_{BLOCK}") == "theirs" else form.value(stored)
    try:
        saved = kept_update(policy, PLACE, value, by=request.user, expected_version=form.cleaned_data["version"])
    except ConflictError as error:
        conflict = conflict_of(error)
        return _page(request, policy, value, form, status=409, conflict=conflict, version=conflict.version)
    except RecordInvalidError as error:
        for detail in error.details:
            form.add_error(None, f"`{detail['path']}` {detail['message']}")
        return _page(request, policy, value, form, status=422)
    tell_saved(request, _("Saved to the draft."), saved, was=policy)
    return redirect("tool-search-settings")


def _page(
    request: ConsoleRequest, policy: Any, value: Any, form: SettingsForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    context = settings_page(environment_chosen(request), policy, value)
    context |= {"form": form, "version": form["version"].value(), **more, **writing(request)}
    return render(request, "console/tool_search/settings.html", context, status=status)
