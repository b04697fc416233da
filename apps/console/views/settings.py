"""What a person sets for themselves: name, language, theme, sessions; and the environment to look at."""

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.access import Permission, may
from apps.accounts.selectors import sessions_of
from apps.accounts.services import preferences_save, session_end, sessions_end
from apps.console.environments import SESSION_KEY, environments_of
from apps.console.forms import EnvironmentForm, LanguageForm, PreferencesForm
from apps.console.gate import ConsoleRequest, gate


@require_http_methods(["GET", "HEAD", "POST"])
@gate()
def settings(request: ConsoleRequest) -> HttpResponse:
    user = request.user
    initial = {name: getattr(user, name) for name in PreferencesForm.base_fields}
    form = PreferencesForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        user = preferences_save(user, **form.cleaned_data)
        with translation.override(user.language or translation.get_language()):
            messages.success(request, _("Saved."))
        return redirect("settings")
    context = {
        "form": form,
        "may_read_policy": may(user, Permission.POLICY_READ),
        "sessions": sessions_of(user, timezone.now()),
        "current_session": request.session.session_key,
    }
    return render(request, "console/settings/settings.html", context, status=422 if form.errors else 200)


@require_POST
@gate()
def session_close(request: ConsoleRequest) -> HttpResponse:
    """End one of one's own sessions, or all but this one."""
    key = request.POST.get("session", "")
    if key:
        session_end(request.user, session_key=key)
    else:
        sessions_end(request.user, keep=request.session.session_key)
    messages.success(request, _("Ended."))
    return redirect("settings")


@require_POST
@gate()
def environment_choose(request: ConsoleRequest) -> HttpResponse:
    """Look at another environment from now on."""
    form = EnvironmentForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest()  # no form of ours sends this
    wanted = form.cleaned_data["environment"]
    if wanted not in {environment.slug for environment in environments_of(request)}:
        return HttpResponseBadRequest()  # removed since the page was built
    request.session[SESSION_KEY] = wanted
    return redirect(_next(request, form.cleaned_data["next"]) or "overview")


@require_POST
@gate()
def language_choose(request: ConsoleRequest) -> HttpResponse:
    """Have the console speak another language from now on."""
    form = LanguageForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest()  # no form of ours sends this
    user, wanted = request.user, form.cleaned_data["language"]
    preferences_save(
        user, display_name=user.display_name, language=wanted, theme=user.theme, single_keys=user.single_keys
    )
    return redirect(_next(request, form.cleaned_data["next"]) or "settings")


def _next(request: ConsoleRequest, target: str) -> str:
    """Return where a form wants to go on; empty when that is not a page of ours."""
    is_ours = url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}) and target.startswith("/")
    return target if is_ours else ""
