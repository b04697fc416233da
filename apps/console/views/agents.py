"""Agents: the list, one agent's tool policy, its preview."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.access import Permission, may, require
from apps.console import agents as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.policy_forms import INHERIT, LISTS, AgentForm, PolicyForm
from apps.console.remarks import layer_remarks
from apps.console.situations import Situation, choices_of, configured_models
from apps.console.undoing import tell_saved
from apps.console.vocabulary import label_words, vocabulary_of
from apps.firewall.engine.compile import AgentRules
from apps.firewall.engine.context import ContextError
from apps.firewall.engine.exec_policy import exec_rules
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot
from apps.policies.errors import ConflictError, RecordInvalidError
from apps.policies.selectors import agent_get, agents_exist, draft_snapshot, known_profiles, live_snapshot
from apps.policies.services import agent_create, record_update

WORDS_LIMIT = 200
PAGE_DIGITS = 7
PREVIEW_FIELDS = ("model", "where", "sender", "owner", "sandbox", "depth")


def environment_chosen(request: ConsoleRequest) -> "shown.EnvironmentRecord":
    if not request.environment:
        raise Http404
    return request.environment


def agent_asked(request: ConsoleRequest, key: str) -> "shown.AgentRecord":
    """Find the agent of a page in the draft.

    Raises:
        Http404: there is none of that key.
    """
    record = agent_get(environment_chosen(request), key)
    if record is None:
        raise Http404
    return record


def is_part(request: ConsoleRequest) -> bool:
    return bool(request.htmx) and not request.htmx.history_restore_request


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def agents(request: ConsoleRequest) -> HttpResponse:
    """Every agent of the draft; POST adds one."""
    environment = environment_chosen(request)
    profiles = known_profiles(environment)
    form = AgentForm(request.POST if request.method == "POST" else None, profiles=profiles)
    if request.method == "POST":
        require(request.user, Permission.POLICY_WRITE)
        if form.is_valid():
            try:
                record = agent_create(environment, form.cleaned_data["key"], by=request.user, **form.fields_given())
            except RecordInvalidError as error:
                form.take_refusal(error)
            else:
                tell_saved(request, _("Added to the draft."), record)
                return redirect("agent", record.key)
    words = request.GET.get("q", "").replace("\0", "").strip()[:WORDS_LIMIT]
    page = shown.agent_page(environment, words=words, page=_page_asked(request))
    context = {
        "page": page,
        "rows": page.rows,
        "words": words,
        "has_agents": bool(page.count) or agents_exist(environment),
        "form": form,
        "is_live": live_snapshot(environment) is not None,
    }
    context |= writing(request)
    return render(request, "console/agents/agents.html", context, status=422 if form.errors else 200)


def _page_asked(request: ConsoleRequest) -> int:
    given = request.GET.get("page", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < PAGE_DIGITS else 1


def writing(request: ConsoleRequest) -> dict[str, Any]:
    """Say whether a person may change policy, and who may when they may not."""
    may_write = may(request.user, Permission.POLICY_WRITE)
    return {"may_write": may_write, "writers": "" if may_write else shown.roles_with(Permission.POLICY_WRITE)}


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def agent(request: ConsoleRequest, key: str) -> HttpResponse:
    """One agent's tool policy with the live funnel; POST saves it to the draft."""
    record = agent_asked(request, key)
    if request.method == "POST":
        return _save(request, record)
    return render(request, "console/agents/agent.html", _page(request, record, _stored(record)))


def _save(request: ConsoleRequest, record: "shown.AgentRecord") -> HttpResponse:
    require(request.user, Permission.POLICY_WRITE)
    form = PolicyForm(request.POST)
    conflict, status, seen = None, 200, record
    if form.is_valid():
        changes = form.changes(record)
        wanted = {name: value for name, value in changes.items() if request.POST.get(f"choose_{name}") != "theirs"}
        try:
            record = record_update(record, wanted, by=request.user, expected_version=form.cleaned_data["version"])
        except ConflictError as error:
            conflict, status, record = shown.conflict_of(error), 409, error.current
        except RecordInvalidError as error:
            form.take_refusal(error)
    if form.errors:
        status = 422
    if status == 200 and not request.htmx:
        tell_saved(request, _("Saved to the draft."), record, was=seen)
        return redirect("agent", record.key)
    values = _stored(record) if status == 200 else _typed(form, record)
    context = _page(request, record, values) | {"conflict": conflict, "is_saved": status == 200}
    context |= {"mistakes": shown.mistakes_of(form)} | ({"version": form.data.get("version")} if status == 422 else {})
    template = "console/agents/_saved.html" if is_part(request) else "console/agents/agent.html"
    response = render(request, template, context, status=status)
    if status == 200:
        response["HX-Trigger"] = "draft-changed"
    return response


def _stored(record: "shown.AgentRecord") -> dict[str, Any]:
    return {name: getattr(record, name) for name in (*LISTS, "profile", "labels")}


def _typed(form: PolicyForm, record: "shown.AgentRecord") -> dict[str, Any]:
    """Return what a form says; for a member that it does not carry, what is stored."""
    if form.is_valid():
        return _stored(record) | form.changes(record)
    values = _stored(record)
    for name in (*LISTS, "labels"):
        if name in form.cleaned_data and name in form.data:
            values[name] = form.cleaned_data[name]
    if "profile" in form.cleaned_data and "profile" in form.data:
        profile = form.cleaned_data["profile"]
        values["profile"] = None if profile == INHERIT else profile
    return values


def _situation(record: "shown.AgentRecord", given: Mapping[str, Any]) -> tuple[Situation, str]:
    """Read the situation of the preview; what cannot be read is said, and the plain one is shown."""
    try:
        return Situation.read(given, agent=record.key), ""
    except ContextError as error:
        return Situation(agent=record.key), error.message


def _page(request: ConsoleRequest, record: "shown.AgentRecord", values: Mapping[str, Any]) -> dict[str, Any]:
    environment = environment_chosen(request)
    given = request.POST if request.method == "POST" else request.GET
    draft, live = draft_snapshot(environment), live_snapshot(environment)
    rules = shown.live_rules(live, record.key)
    situation, mistake = _situation(record, given)
    choices = choices_of(draft, situation, models=configured_models(environment))
    return {
        "record": record,
        "agent_key": record.key,
        "tab": "agent",
        "version": record.version,
        **_form_parts(environment, draft, record, values, rules),
        "providers": shown.provider_rows(environment, record),
        "rules": exec_rules(draft.exec_settings(record.key), dialect=draft.dialect),
        "changed": shown.fields_changed(record, rules),
        "is_new": live is not None and rules is None,
        "situation": situation,
        "mistake": mistake,
        "choices": [choices[name] for name in PREVIEW_FIELDS],
        "funnel": shown.preview(environment, record, values, situation),
        "vocabulary": vocabulary_of(draft, shown.words_in_use(draft, record.key)),
        "label_words": label_words(draft),
        **writing(request),
    }


def _form_parts(
    environment: "shown.EnvironmentRecord",
    draft: Snapshot,
    record: "shown.AgentRecord",
    values: Mapping[str, Any],
    rules: AgentRules | None,
) -> dict[str, Any]:
    """What a form shows of its values beside what is live."""
    policy = None if rules is None else rules.policy
    profile_live = None if policy is None else policy.profile
    across = layer_remarks(environment, draft, record, values)
    return {
        "fields": [
            replace(field, remarks=[*field.remarks, *across[field.name]])
            for field in shown.list_fields(environment, draft, values, policy, has_live=rules is not None)
        ]
        + [shown.labels_field(values, rules)],
        "profiles": shown.profile_options(environment, known_profiles(environment), values.get("profile")),
        "profile_live": profile_live,
        "profile_changed": rules is not None and profile_live != values.get("profile"),
    }


@require_POST
@gate(Permission.POLICY_READ)
def agent_preview(request: ConsoleRequest, key: str) -> HttpResponse:
    """What would be left with the values of the form; nothing is stored."""
    record = agent_asked(request, key)
    environment = environment_chosen(request)
    values = _typed(PolicyForm(request.POST), record)
    if not is_part(request):
        context = _page(request, record, values) | {"version": request.POST.get("version", record.version)}
        return render(request, "console/agents/agent.html", context)
    situation, mistake = _situation(record, request.POST)
    rules = shown.live_rules(live_snapshot(environment), record.key)
    context = {
        **_form_parts(environment, draft_snapshot(environment), record, values, rules),
        "funnel": shown.preview(environment, record, values, situation),
        "mistake": mistake,
        "situation": situation,
    }
    return render(request, "console/agents/_preview.html", context)


@require_POST
@gate(Permission.POLICY_WRITE)
def agent_discard(request: ConsoleRequest, key: str) -> HttpResponse:
    """Set an agent's tool policy and labels back to what is live."""
    record = agent_asked(request, key)
    rules = shown.live_rules(live_snapshot(environment_chosen(request)), record.key)
    if rules is None:
        raise Http404
    policy = rules.policy or Policy()
    wanted: dict[str, Any] = {"profile": policy.profile}
    wanted |= {name: None if getattr(policy, name) is None else list(getattr(policy, name)) for name in LISTS}
    wanted["labels"] = list(rules.labels)
    record_update(record, wanted, by=request.user, expected_version=record.version)
    messages.success(request, _("As it is live again."))
    return redirect("agent", record.key)
