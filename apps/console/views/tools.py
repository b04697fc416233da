"""Tools: the list with its filters, one tool's page, its move to another state."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.access import Permission, may, permissions_of
from apps.console import tool_page as page
from apps.console import tools as shown
from apps.console.answers import status_of
from apps.console.drifts import keeps_calls, summary_of
from apps.console.gate import ConsoleRequest, gate
from apps.console.provider_previews import previews_of
from apps.console.registry_forms import StateForm
from apps.console.situations import agent_names
from apps.console.tool_history import history_of_tool
from apps.console.tool_reach import agents_reached, reach_of
from apps.console.tool_words import marks_of, origin_of, section_label, source_word, state_word
from apps.console.trials import first_trial
from apps.console.views.agents import environment_chosen, is_part
from apps.policies.references import references_to
from apps.policies.selectors import live_publication, live_snapshot
from apps.registry.errors import RegistryError
from apps.registry.findings import tool_findings
from apps.registry.selectors import drift_pending, tool_failures, tool_find
from apps.registry.services import tool_set_state

SHOWN_FAILURES = 5


@require_safe
@gate(Permission.POLICY_READ)
def tools(request: ConsoleRequest) -> HttpResponse:
    """The list, or its changing part when a filter or a cursor asked for it."""
    environment = environment_chosen(request)
    asked = shown.Asked(request.GET)
    live = live_snapshot(environment)
    reach = None if live is None else reach_of(live)
    found = shown.page_of(environment, asked, reach)
    may_read_calls = may(request.user, Permission.AUDIT_READ)
    context = {
        "asked": asked,
        "page": found,
        "rows": shown.rows_of(environment, found, reach, with_figures=may_read_calls),
        "choices": shown.choices_of(environment, asked, () if live is None else agent_names(live)),
        "chips": shown.chips_of(environment, asked),
        "reach": reach,
        "live": live_publication(environment),
        "may_read_calls": may_read_calls,
    }
    answer = render(request, "console/tools/_tools.html" if is_part(request) else "console/tools/tools.html", context)
    if is_part(request):
        answer["HX-Push-Url"] = asked.address
    return answer


def tool_asked(request: ConsoleRequest, name: str) -> "page.ToolRecord":
    """Find the tool of a page.

    Raises:
        Http404: there is none of that name, in any case.
    """
    record = tool_find(environment_chosen(request), name)
    if record is None:
        raise Http404
    return record


@require_safe
@gate(Permission.POLICY_READ)
def tool(request: ConsoleRequest, name: str) -> HttpResponse:
    """One tool: what it takes, what models are told, who has it, how it is called, where it may go."""
    record = tool_asked(request, name)
    context = tool_context(request, record)
    live = live_snapshot(environment_chosen(request))
    context["trial"] = first_trial(live, record.name, context["found"].definition, request.GET)
    return render(request, "console/tools/tool.html", context)


def tool_context(request: ConsoleRequest, record: "page.ToolRecord") -> dict[str, Any]:
    """What the page of a tool shows, without the form that tries it."""
    environment = environment_chosen(request)
    live = live_snapshot(environment)
    found = page.defined(record)
    may_read_calls = may(request.user, Permission.AUDIT_READ)
    entry = None if live is None else live.tool(record.name)
    reached = agents_reached(live, record.name) if live is not None and entry is not None else []
    drift = _drift(record)
    return {
        "record": record,
        "environment": environment,
        "may_call": may(request.user, Permission.CALLS_MAKE),
        "word": state_word(record.state),
        "origin": source_word(record.source),
        "origin_label": origin_of(record),
        "marks": marks_of(record),
        "section": section_label(environment, record.section),
        "executor": page.executor_text(record),
        "moves": page.moves_of(record, permissions_of(request.user), is_drifted=drift["drift"] is not None),
        "found": found,
        "table": found.table,
        "live": live_publication(environment),
        "is_live": entry is not None,
        "is_withdrawn": entry is not None and record.state not in page.OFFERED,
        "reached": reached,
        "use": page.use_of(environment, record) if may_read_calls else None,
        "failures": tool_failures(record, limit=SHOWN_FAILURES) if may_read_calls else (),
        "reach_summary": page.reach_summary(reached),
        "changes": history_of_tool(record),
        **drift,
        **_previews(found, environment),
        "findings": tool_findings(record) if found.definition is not None else (),
    }


def _previews(found: page.Defined, environment: "page.EnvironmentRecord") -> dict[str, Any]:
    if found.definition is None:
        return {}
    shown_previews, refusal = previews_of(found.definition, environment.dialect)
    return {"previews": shown_previews, "no_preview": refusal}


def _drift(record: "page.ToolRecord") -> dict[str, Any]:
    drift = drift_pending(record)
    return {
        "source": record.discovery_source,
        "drift": drift,
        "drift_summary": "" if drift is None else " ".join(summary_of(drift)),
        "drift_keeps": drift is not None and keeps_calls(record),
    }


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def tool_state(request: ConsoleRequest, name: str) -> HttpResponse:
    """Ask before a tool is taken from somebody; POST moves it."""
    record = tool_asked(request, name)
    given = request.POST if request.method == "POST" else request.GET
    form = StateForm(request.POST if request.method == "POST" else None, initial={"version": record.version})
    wanted = given.get("to", "")
    move = next((each for each in page.moves_of(record, permissions_of(request.user)) if each.state == wanted), None)
    error = None
    if request.method == "POST" and form.is_valid():
        try:
            tool_set_state(record, state=wanted, by=request.user, **form.members())
        except RegistryError as exc:
            error = exc
        else:
            messages.success(
                request, _("%(name)s: %(state)s.") % {"name": record.name, "state": state_word(wanted).label}
            )
            return redirect("tool", record.name)
    elif move is None:
        raise Http404
    context = {"record": record, "move": move, "form": form, "error": error, "word": state_word(record.state)}
    context |= _loses(request, record)
    return render(request, "console/tools/state.html", context, status=200 if error is None else status_of(error))


def _loses(request: ConsoleRequest, record: "page.ToolRecord") -> dict[str, Any]:
    """Say who would lose a tool, which policies name it, and how often it was called."""
    environment = environment_chosen(request)
    live = live_snapshot(environment)
    reached = agents_reached(live, record.name) if live is not None and live.tool(record.name) else []
    return {
        "losing": [row for row in reached if row.count],
        "references": references_to(environment, [record.name]),
        "use": page.use_of(environment, record) if may(request.user, Permission.AUDIT_READ) else None,
    }


@require_safe
@gate(Permission.POLICY_READ)
def tool_schema(request: ConsoleRequest, name: str) -> HttpResponse:
    """The schema as JSON, to keep."""
    record = tool_asked(request, name)
    headers = {"Content-Disposition": f'attachment; filename="{page.file_name(record)}.schema.json"'}
    options = {"indent": 2, "ensure_ascii": False}
    return JsonResponse(record.params_schema, headers=headers, json_dumps_params=options)
