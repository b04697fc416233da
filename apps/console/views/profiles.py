"""Profiles: the list, one profile with the tools that it leaves and who takes it."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission, require
from apps.console import profiles as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.history import changes_of
from apps.console.profile_forms import LISTS, ProfileForm, ProfileNewForm
from apps.console.undoing import writer_of
from apps.console.views.agents import environment_chosen, is_part, writing
from apps.console.views.draft_parts import (
    SHOWN,
    Saving,
    draft_add,
    draft_context,
    draft_remove,
    draft_save,
    draft_set_back,
)
from apps.console.vocabulary import vocabulary_of
from apps.firewall.engine.dialect import DIALECTS
from apps.policies.selectors import draft_snapshot, live_snapshot, profile_get
from apps.policies.services import profile_create


def profile_asked(request: ConsoleRequest, key: str) -> "shown.ProfileRecord":
    """Find the profile of a page in the draft.

    Raises:
        Http404: there is none of one's own with that name.
    """
    record = profile_get(environment_chosen(request), key)
    if record is None:
        raise Http404
    return record


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def profiles(request: ConsoleRequest) -> HttpResponse:
    """The profiles of the release and those of one's own; POST adds one."""
    environment = environment_chosen(request)
    form = ProfileNewForm(request.POST if request.method == "POST" else None)
    added = draft_add(request, form, profile_create)
    if added is not None:
        return redirect("profile", added.key)
    built_in, own, total = shown.profile_rows(environment)
    context = {"built_in": built_in, "own": own, "total": total, "form": form, "release": environment.dialect}
    context |= writing(request)
    return render(request, "console/profiles/profiles.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def profile(request: ConsoleRequest, key: str) -> HttpResponse:
    """One profile; POST saves one of one's own to the draft."""
    environment = environment_chosen(request)
    if request.method == "POST":
        require(request.user, Permission.POLICY_WRITE)
    if any(key in dialect.profiles for dialect in DIALECTS.values()) and profile_get(environment, key) is None:
        return _built_in(request, key)
    record = profile_asked(request, key)
    form = ProfileForm(request.POST if request.method == "POST" else None, record=record)
    saving = draft_save(request, record, form)
    if saving.is_saved:
        return redirect("profile", record.key)
    return _page(request, record, form, saving)


def _built_in(request: ConsoleRequest, key: str) -> HttpResponse:
    environment = environment_chosen(request)
    policy = DIALECTS[environment.dialect].profiles.get(key)
    context = {
        "key": key,
        "releases": shown.releases_of(environment, key),
        "holds": shown.holds_of(environment, key, {"allow": policy.allow if policy else None}),
        "is_here": policy is not None,
        "users": shown.users_of(environment, key),
    }
    status = 405 if request.method == "POST" else 200
    return render(request, "console/profiles/built_in.html", context | writing(request), status=status)


def _page(request: ConsoleRequest, record: "shown.ProfileRecord", form: ProfileForm, saving: Saving) -> HttpResponse:
    environment = environment_chosen(request)
    draft = draft_snapshot(environment)
    known = shown.live_profile(live_snapshot(environment), record.key)
    context = draft_context(request, record, form, saving) | _parts(request, record, form)
    context |= {
        "tab": "profile",
        "changed": 0 if known is None else shown.lists_changed(record, known),
        "is_new": known is None and live_snapshot(environment) is not None,
        "users": shown.users_of(environment, record.key),
        "vocabulary": vocabulary_of(draft, frozenset()),
    }
    return render(request, "console/profiles/profile.html", context, status=saving.status)


def _parts(request: ConsoleRequest, record: "shown.ProfileRecord", form: ProfileForm) -> dict[str, Any]:
    """What changes while a form is typed: its lists beside what is live, and the tools that are left."""
    environment, values = environment_chosen(request), form.values()
    return {
        "fields": shown.list_fields(environment, record, values),
        "holds": shown.holds_of(environment, record.key, values),
    }


@require_POST
@gate(Permission.POLICY_READ)
def profile_preview(request: ConsoleRequest, key: str) -> HttpResponse:
    """What a profile would leave with the values of the form; nothing is stored."""
    record = profile_asked(request, key)
    form = ProfileForm(request.POST, record=record)
    if is_part(request):
        return render(request, "console/profiles/_preview.html", _parts(request, record, form))
    return _page(request, record, form, SHOWN)


@require_POST
@gate(Permission.POLICY_WRITE)
def profile_discard(request: ConsoleRequest, key: str) -> HttpResponse:
    """Set a profile's lists back to what is live."""
    record = profile_asked(request, key)
    known = shown.live_profile(live_snapshot(environment_chosen(request)), key)
    if known is None:
        raise Http404
    wanted = {name: None if getattr(known, name) is None else list(getattr(known, name)) for name in LISTS}
    draft_set_back(request, record, wanted)
    return redirect("profile", record.key)


@require_POST
@gate(Permission.POLICY_WRITE)
def profile_delete(request: ConsoleRequest, key: str) -> HttpResponse:
    """Take a profile out of the draft; one that is taken somewhere stays."""
    draft_remove(request, profile_asked(request, key))
    return redirect("profiles")


@require_safe
@gate(Permission.POLICY_READ)
def profile_history(request: ConsoleRequest, key: str) -> HttpResponse:
    """Who changed what of a profile, and when."""
    record = profile_asked(request, key)
    entries = changes_of(record, by=writer_of(request))
    context = {"record": record, "tab": "history", "entries": entries} | writing(request)
    return render(request, "console/profiles/history.html", context)
