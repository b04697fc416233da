"""Sessions of agents: the list, one session, ending and bounding it."""

import uuid
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission, actor_of, may
from apps.audit.errors import FilterError
from apps.audit.selectors import calls as calls_of
from apps.console import sessions as shown
from apps.console.agents import roles_with
from apps.console.background import ShownCommand
from apps.console.calls import ShownCall
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import environment_chosen
from apps.gateway.background.killing import command_kill
from apps.gateway.background.selectors import command_of_session, commands_of_session
from apps.sessions.access import session_access
from apps.sessions.errors import BudgetError, SessionFilterError
from apps.sessions.selectors import loop_state, session_agents, session_runs
from apps.sessions.selectors import sessions as sessions_page
from apps.sessions.services import session_budgets_set, session_end, session_reopen
from apps.sessions.tree import parent_of, tree_of


@require_safe
@gate(Permission.AUDIT_READ)
def sessions(request: ConsoleRequest) -> HttpResponse:
    """The page, or its list when a filter or the clock asked for it."""
    environment = environment_chosen(request)
    is_part = bool(request.htmx) and not request.htmx.history_restore_request
    template = "console/sessions/_list.html" if is_part else "console/sessions/sessions.html"
    context: dict[str, Any] = {
        "query": request.GET,
        "address": shown.address(request.GET),
        "is_filtered": any(request.GET.get(name) for name in shown.FILTERS),
        "states": shown.STATE_LABELS,
        "is_first": not request.GET.get("after"),
    }
    if not is_part:
        context["agents"] = session_agents(environment)
    try:
        page = sessions_page(environment, shown.filters_of(request.GET), after=request.GET.get("after", ""))
    except SessionFilterError as error:
        return render(request, template, context | {"error": error}, status=422)
    older = shown.address(request.GET, after=page.older) if page.older else ""
    return render(request, template, context | {"rows": page.rows, "older": older})


@require_safe
@gate(Permission.AUDIT_READ)
def session(request: ConsoleRequest, session_id: uuid.UUID) -> HttpResponse:
    """One session: how it stands, its calls, its runs, what it started, what repeats in it."""
    found = _asked(request, session_id)
    is_part = bool(request.htmx) and not request.htmx.history_restore_request
    template = "console/sessions/_now.html" if is_part else "console/sessions/session.html"
    return render(request, template, _page(request, found))


@require_POST
@gate(Permission.SESSIONS_MANAGE)
def end(request: ConsoleRequest, session_id: uuid.UUID) -> HttpResponse:
    found = _asked(request, session_id, write=True)
    form = shown.EndForm(request.POST)
    if form.is_valid():
        found = session_end(found, by=request.user, at=timezone.now(), reason=form.cleaned_data["reason"])
        return _answer(request, found)
    return _refused(request, found, end_form=form)


@require_POST
@gate(Permission.SESSIONS_MANAGE)
def reopen(request: ConsoleRequest, session_id: uuid.UUID) -> HttpResponse:
    found = session_reopen(_asked(request, session_id, write=True), by=request.user, at=timezone.now())
    return _answer(request, found)


@require_POST
@gate(Permission.SESSIONS_MANAGE)
def command_end(request: ConsoleRequest, session_id: uuid.UUID, command_id: uuid.UUID) -> HttpResponse:
    """Ask for the end of a background command; the page shows it once its process has gone."""
    found = _asked(request, session_id, write=True)
    if command_of_session(found, command_id) is None:
        raise Http404
    command_kill(command_id, by=actor_of(request.user))
    if not request.htmx:
        return redirect("session", found.pk)
    return render(request, "console/sessions/_commands.html", _commands(found) | {"may_write": True})


@require_POST
@gate(Permission.SESSIONS_MANAGE)
def budgets(request: ConsoleRequest, session_id: uuid.UUID) -> HttpResponse:
    found = _asked(request, session_id, write=True)
    form = shown.BudgetsForm(request.POST)
    if form.is_valid():
        try:
            return _answer(request, session_budgets_set(found, form.budgets, by=request.user, at=timezone.now()))
        except BudgetError as error:
            form.take_refusal(error)
    return _refused(request, found, budgets_form=form)


def _asked(request: ConsoleRequest, session_id: uuid.UUID, *, write: bool = False) -> "shown.SessionRecord":
    found = session_access(request.user, session_id, write=write)
    if found.environment != environment_chosen(request):
        raise Http404
    return found


def _answer(request: ConsoleRequest, found: "shown.SessionRecord") -> HttpResponse:
    if not request.htmx:
        return redirect("session", found.pk)
    return render(request, "console/sessions/_session.html", _page(request, found))


def _refused(request: ConsoleRequest, found: "shown.SessionRecord", **forms: Any) -> HttpResponse:
    template = "console/sessions/_session.html" if request.htmx else "console/sessions/session.html"
    return render(request, template, _page(request, found) | forms, status=422)


def _page(request: ConsoleRequest, found: "shown.SessionRecord") -> dict[str, Any]:
    may_write = may(request.user, Permission.SESSIONS_MANAGE)
    loops = loop_state(found)
    lines = list(shown.lines_of(tree_of(found), current=found.pk))
    return {
        "session": found,
        "parent": parent_of(found),
        "lines": lines,
        "runs": session_runs(found),
        "loops": loops,
        "bars": shown.bars_of(loops),
        "budgets_form": shown.BudgetsForm.of(found),
        "end_form": shown.EndForm(),
        "audit_url": shown.audit_address(found),
        "may_write": may_write,
        "writers": "" if may_write else roles_with(Permission.SESSIONS_MANAGE),
        **_commands(found),
        **_calls(request, found),
    }


def _commands(found: "shown.SessionRecord") -> dict[str, Any]:
    return {"session": found, "commands": [ShownCommand(each) for each in commands_of_session(found)]}


def _calls(request: ConsoleRequest, found: "shown.SessionRecord") -> dict[str, Any]:
    after = request.GET.get("after", "")
    try:
        page = calls_of(shown.calls_filter(found), after=after, limit=shown.CALLS_SHOWN)
    except FilterError as error:
        raise Http404 from error
    rows = [ShownCall(call, dialect=found.environment.dialect) for call in page.rows]
    return {"rows": rows, "older": page.older, "is_first": not after}
