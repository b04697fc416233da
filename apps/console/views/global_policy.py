"""What applies to every agent: the global policy with its preview, and the rules by provider."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission, require
from apps.console import agents as fields
from apps.console import global_policy as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.global_forms import GlobalForm
from apps.console.history import changes_of
from apps.console.policy_forms import INHERIT, LISTS, ProviderForm
from apps.console.situations import Situation, agent_names, choices_of, configured_models
from apps.console.undoing import tell_saved, writer_of
from apps.console.views.agents import environment_chosen, is_part, writing
from apps.console.views.draft_parts import (
    SHOWN,
    Saving,
    draft_asked,
    draft_context,
    draft_remove,
    draft_save,
    draft_set_back,
)
from apps.console.views.sender_parts import Sides, sides_of
from apps.console.vocabulary import vocabulary_of
from apps.firewall.engine.context import ContextError
from apps.policies.errors import ConflictError, RecordInvalidError
from apps.policies.selectors import draft_snapshot, global_policy, known_profiles, live_snapshot
from apps.policies.services import provider_policy_create, record_update

PREVIEW_FIELDS = ("agent", "model", "where", "sender", "owner", "sandbox", "depth")


def _record_asked(request: ConsoleRequest) -> "shown.GlobalRecord":
    """Find the global policy of the draft.

    Raises:
        Http404: the environment has no policy yet.
    """
    record = global_policy(environment_chosen(request))
    if record is None:
        raise Http404
    return record


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def everybody(request: ConsoleRequest) -> HttpResponse:
    """The global policy; POST saves it to the draft."""
    if request.method == "POST":
        require(request.user, Permission.POLICY_WRITE)
    elif global_policy(environment_chosen(request)) is None:
        return render(request, "console/global/empty.html", writing(request))
    record = _record_asked(request)
    form = GlobalForm(request.POST if request.method == "POST" else None, record=record)
    saving = draft_save(request, record, form)
    if saving.is_saved:
        return redirect("global")
    return _page(request, record, form, saving)


def _page(request: ConsoleRequest, record: "shown.GlobalRecord", form: GlobalForm, saving: Saving) -> HttpResponse:
    environment = environment_chosen(request)
    draft, live = sides = sides_of(request)
    context = draft_context(request, record, form, saving) | _parts(request, form, sides)
    choices = choices_of(draft, context["situation"], models=configured_models(environment))
    context |= {
        "tab": "global",
        "changed": shown.fields_changed(record, live),
        "has_live": live is not None,
        "choices": [choices[name] for name in PREVIEW_FIELDS],
        "providers": fields.provider_rows(environment),
        "vocabulary": vocabulary_of(draft, frozenset()),
    }
    return render(request, "console/global/global.html", context, status=saving.status)


def _parts(request: ConsoleRequest, form: GlobalForm, sides: Sides) -> dict[str, Any]:
    """What changes while a form is typed: its lists beside what is live, who is met, what is left."""
    environment, values = environment_chosen(request), form.values()
    draft, live = sides
    engine = shown.engine_typed(draft, values)
    situation, mistake = _situation(request, agent_names(draft))
    blocks = shown.list_fields(environment, draft, values, live)
    profile_live = None if live is None or live.engine.policy is None else live.engine.policy.profile
    return {
        "blocks": blocks,
        "fields": [field for block in blocks.values() for field in block],
        "profiles": shown.profile_options(environment, known_profiles(environment), values["profile"]),
        "profile_live": profile_live,
        "profile_changed": live is not None and profile_live != values["profile"],
        "situation": situation,
        "mistake": mistake,
        "effect": shown.effect_of(engine, live),
        "funnel": shown.preview(draft, live, engine, situation),
    }


def _situation(request: ConsoleRequest, agents: tuple[str, ...]) -> tuple[Situation, str]:
    given = request.POST if request.method == "POST" else request.GET
    agent = str(given.get("agent", "")) or (agents[0] if agents else "")
    try:
        return Situation.read(given, agent=agent), ""
    except ContextError as error:
        return Situation(agent=agent), error.message


@require_POST
@gate(Permission.POLICY_READ)
def everybody_preview(request: ConsoleRequest) -> HttpResponse:
    """Whom a change meets, and what would be left, with the values of the form; nothing is stored."""
    record = _record_asked(request)
    form = GlobalForm(request.POST, record=record)
    if is_part(request):
        return render(request, "console/global/_preview.html", _parts(request, form, sides_of(request)))
    return _page(request, record, form, SHOWN)


@require_POST
@gate(Permission.POLICY_WRITE)
def everybody_discard(request: ConsoleRequest) -> HttpResponse:
    """Set profile, lists and depth back to what is live."""
    record, live = _record_asked(request), live_snapshot(environment_chosen(request))
    if live is None:
        raise Http404
    draft_set_back(request, record, shown.live_values(live))
    return redirect("global")


@require_safe
@gate(Permission.POLICY_READ)
def everybody_history(request: ConsoleRequest) -> HttpResponse:
    """Who changed what of the global policy, and when."""
    record = _record_asked(request)
    context = {"record": record, "tab": "history", "entries": changes_of(record, by=writer_of(request))}
    return render(request, "console/global/history.html", context | writing(request))


# --- rules by provider ---


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def provider_new(request: ConsoleRequest) -> HttpResponse:
    """A new rule by provider for every agent."""
    environment = environment_chosen(request)
    form = ProviderForm(request.POST or None, profiles=known_profiles(environment))
    if request.method == "POST" and form.is_valid():
        given = {name: value for name, value in form.changes(None).items() if value is not None}
        try:
            added = provider_policy_create(environment, form.cleaned_data["key"], by=request.user, **given)
        except RecordInvalidError as error:
            form.take_refusal(error)
        else:
            tell_saved(request, _("Saved to the draft."), added)
            return redirect("global")
    return _provider_page(request, None, form, Saving(status=422 if form.errors else 200))


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def provider(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """One rule by provider for every agent; POST saves it to the draft."""
    rule = _rule_asked(request, record_id)
    initial = {name: getattr(rule, name) for name in (*LISTS, "key", "version")}
    initial["profile"] = rule.profile or INHERIT
    form = ProviderForm(request.POST or None, initial=initial, profiles=known_profiles(rule.environment))
    if request.method == "POST" and form.is_valid():
        changes = form.changes(rule) | {"key": form.cleaned_data["key"]}
        wanted = {name: each for name, each in changes.items() if request.POST.get(f"choose_{name}") != "theirs"}
        try:
            saved = record_update(rule, wanted, by=request.user, expected_version=form.cleaned_data["version"] or 0)
        except ConflictError as error:
            return _provider_page(request, rule, form, Saving(status=409, conflict=fields.conflict_of(error)))
        except RecordInvalidError as error:
            form.take_refusal(error)
        else:
            tell_saved(request, _("Saved to the draft."), saved, was=rule)
            return redirect("global")
    return _provider_page(request, rule, form, Saving(status=422 if form.is_bound else 200))


@require_POST
@gate(Permission.POLICY_WRITE)
def provider_delete(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Take a rule by provider out of the draft."""
    draft_remove(request, _rule_asked(request, record_id))
    return redirect("global")


def _rule_asked(request: ConsoleRequest, record_id: UUID) -> "shown.ProviderRecord":
    rule: shown.ProviderRecord = draft_asked(request, "provider", record_id)
    if rule.agent_id is not None:
        raise Http404
    return rule


def _provider_page(
    request: ConsoleRequest, rule: "shown.ProviderRecord | None", form: ProviderForm, saving: Saving
) -> HttpResponse:
    environment = environment_chosen(request)
    draft, live = draft_snapshot(environment), live_snapshot(environment)
    values: dict[str, Any] = {name: getattr(rule, name, None) for name in LISTS}
    if form.is_bound:
        values |= {name: form.cleaned_data.get(name, values[name]) for name in LISTS}
    block = None if live is None or rule is None else live.engine.by_provider.get(rule.key)
    known = None if block is None else block.policy
    context = writing(request) | {
        "rule": rule,
        "form": form,
        "version": saving.conflict.version if saving.conflict else form["version"].value() or 0,
        "conflict": saving.conflict,
        "fields": fields.list_fields(environment, draft, values, known, has_live=known is not None),
        "mistakes": fields.mistakes_of(form) if saving.status == 422 else [],
        "models": configured_models(environment),
        "vocabulary": vocabulary_of(draft, frozenset()),
    }
    return render(request, "console/global/provider.html", context, status=saving.status)
