"""Another release of OpenClaw: what it would change for this environment, and the switch to it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.access import Permission, may, require
from apps.console.gate import ConsoleRequest, gate
from apps.console.release_forms import DialectForm
from apps.console.upgrade import upgrade_shown
from apps.console.views.start import has_begun
from apps.firewall.engine.snapshot import SnapshotError
from apps.policies.selectors import draft_snapshot, live_publication
from apps.policies.upgrading import draft_upgrade, releases_beside
from apps.registry.errors import ToolInvalidError
from apps.registry.services import environment_set_dialect


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def upgrade(request: ConsoleRequest) -> HttpResponse:
    """The preview; a POST makes the environment speak the other release."""
    if not has_begun(request):
        return redirect("start")
    if request.method != "POST":
        return render(request, "console/upgrade/upgrade.html", _page(request) | {"digest": _digest(request)})
    require(request.user, Permission.POLICY_WRITE)
    form = DialectForm(request.POST, environment=request.environment)
    if not form.is_valid():
        return render(request, "console/upgrade/upgrade.html", _page(request, form), status=422)
    release = form.cleaned_data["release"]
    environment: Any = request.environment
    try:
        environment_set_dialect(environment, dialect=release, by=request.user)
    except ToolInvalidError as error:
        return render(request, "console/upgrade/upgrade.html", _page(request, form, error), status=422)
    text = _("The draft speaks %(release)s now. What is live has not changed.")
    messages.success(request, text % {"release": release})
    return redirect("publish")


@require_safe
@gate(Permission.POLICY_READ)
def upgrade_difference(request: ConsoleRequest) -> HttpResponse:
    """What would change, cause by cause: a fragment, or a page where no script asked for it."""
    if not has_begun(request):
        return redirect("start")
    context = _page(request)
    try:
        context["upgrade"] = upgrade_shown(draft_upgrade(context["environment"], context["release"]))
    except (SnapshotError, ToolInvalidError) as error:
        context["error"] = error
    template = "console/upgrade/_difference.html" if request.htmx else "console/upgrade/difference.html"
    return render(request, template, context)


def _digest(request: ConsoleRequest) -> str:
    environment: Any = request.environment
    try:
        return draft_snapshot(environment).digest
    except SnapshotError:
        return ""


def _page(request: ConsoleRequest, form: DialectForm | None = None, error: Any = None) -> dict[str, Any]:
    environment: Any = request.environment
    releases = releases_beside(environment)
    wanted = request.GET.get("to", "")
    release = wanted if wanted in releases else releases[0]
    return {
        "environment": environment,
        "release": release,
        "form": form or DialectForm(initial={"release": release}, environment=environment),
        "refused": error,
        "live": live_publication(environment),
        "difference_url": f"{reverse('upgrade-difference')}?to={release}",
        "may_write": may(request.user, Permission.POLICY_WRITE),
    }
