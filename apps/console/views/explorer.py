"""The explorer: who can use what, and why. The URL is the state; GET alone."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.accounts.access import Permission, may
from apps.console import verdicts
from apps.console.gate import ConsoleRequest, gate
from apps.console.matrix import CellDetail, Matrix, cell_of, matrix_of
from apps.console.situations import Situation, agent_names, choices_of, configured_models
from apps.console.views.agents import environment_chosen
from apps.firewall.engine.context import ContextError
from apps.firewall.engine.snapshot import Snapshot
from apps.policies.selectors import agents, draft_snapshot, live_publication, live_snapshot

FIELDS = ("agent", "model", "channel", "group", "sender", "owner", "sandbox", "depth")
SECOND = "b_"
TOOL_LIMIT = 200
NUMBER_DIGITS = 7


class State:
    """What the URL says: one or two situations, which snapshot, which tool is open, which view.

    Raises:
        ContextError: a situation cannot be read.
    """

    def __init__(self, given: Mapping[str, str], default_agent: str) -> None:
        self.at = "draft" if given.get("at") == "draft" else "live"
        self.view = "matrix" if given.get("view") == "matrix" else "compare"
        self.tool = given.get("tool", "")[:TOOL_LIMIT]
        self.only = given.get("only") == "on"
        self.start = _number(given.get("start", ""))
        self.first = Situation.read(given)
        if not self.first.agent:
            self.first = replace(self.first, agent=default_agent)
        self.second: Situation | None = None
        if given.get("compare") == "on":
            has_any = any(f"{SECOND}{name}" in given for name in FIELDS)
            self.second = Situation.read(given, prefix=SECOND) if has_any else self.first

    def query(self, **changes: str) -> str:
        """Write the state as a URL's query, with some values changed; "" takes one away."""
        values = {
            "at": "draft" if self.at == "draft" else "",
            "view": "matrix" if self.view == "matrix" else "",
            **self.first.query(),
            **({"compare": "on", **self.second.query(SECOND)} if self.second else {}),
            "only": "on" if self.only and self.second else "",
            "tool": self.tool,
            "start": str(self.start) if self.start else "",
        }
        return urlencode({name: value for name, value in (values | changes).items() if value})

    def url(self, **changes: str) -> str:
        query = self.query(**changes)
        return f"{reverse('explorer')}?{query}" if query else reverse("explorer")

    @property
    def alone_url(self) -> str:
        """The same without the second situation."""
        gone = {f"{SECOND}{name}": "" for name in FIELDS}
        return self.url(compare="", only="", **gone)


def _number(given: str) -> int:
    return int(given) if given.isascii() and given.isdigit() and len(given) < NUMBER_DIGITS else 0


def _snapshot(request: ConsoleRequest, at: str) -> Snapshot | None:
    environment = environment_chosen(request)
    return draft_snapshot(environment) if at == "draft" else live_snapshot(environment)


@require_safe
@gate(Permission.EXPLAIN)
def explorer(request: ConsoleRequest) -> HttpResponse:
    """Verdicts for every tool in one or two situations, or the matrix of all agents."""
    is_part = bool(request.htmx) and not request.htmx.history_restore_request
    template = "console/explorer/_explorer.html" if is_part else "console/explorer/explorer.html"
    snapshot = _snapshot(request, request.GET.get("at", "live"))
    status, mistake = 200, ""
    try:
        state = State(request.GET.dict(), _first_agent(snapshot))
    except ContextError as error:
        status, mistake = 422, error.message
        state = State({"at": request.GET.get("at", "")}, _first_agent(snapshot))
    context = _context(request, state, snapshot) | {"mistake": mistake}
    response = render(request, template, context, status=status)
    if is_part and status == 200:
        response["HX-Push-Url"] = state.url()
    return response


def _first_agent(snapshot: Snapshot | None) -> str:
    names = agent_names(snapshot) if snapshot is not None else ()
    return names[0] if names else ""


def _context(request: ConsoleRequest, state: State, snapshot: Snapshot | None) -> dict[str, Any]:
    environment = environment_chosen(request)
    live = live_publication(environment)
    context: dict[str, Any] = {
        "state": state,
        "live": live,
        "links": {
            "live": state.url(at=""),
            "draft": state.url(at="draft"),
            "compare": state.url(view="", tool=""),
            "matrix": state.url(view="matrix", tool=""),
            "add": state.url(compare="on", **state.first.query(SECOND)),
            "close": state.url(tool=""),
            "export": f"{reverse('explorer-export')}?{state.query()}",
            "page": request.build_absolute_uri(state.url()),
        },
    }
    if snapshot is None:
        return context | {"missing": True}
    if state.view == "matrix":
        context["links"] |= _matrix_links(matrix := matrix_of(snapshot, state.at, start=state.start), state)
        return context | {"matrix": matrix, "cell": _cell(snapshot, state)}
    return context | _compared(request, state, snapshot)


def _cell(snapshot: Snapshot, state: State) -> CellDetail | None:
    is_cell = bool(state.tool) and state.first.agent in agent_names(snapshot)
    return cell_of(snapshot, state.first.agent, state.tool, state.at) if is_cell else None


def _matrix_links(matrix: Matrix, state: State) -> dict[str, str]:
    earlier, later = max(0, matrix.start - matrix.step), matrix.start + matrix.step
    return {
        "earlier": state.url(start=str(earlier or ""), tool="") if matrix.start else "",
        "later": state.url(start=str(later), tool="") if later < matrix.agents_known else "",
    }


def _answers(state: State, snapshot: Snapshot) -> list[verdicts.Answer]:
    asked = [("A", state.first)] + ([("B", state.second)] if state.second else [])
    return [verdicts.answer_of(snapshot, situation, name) for name, situation in asked]


def _compared(request: ConsoleRequest, state: State, snapshot: Snapshot) -> dict[str, Any]:
    environment = environment_chosen(request)
    answers = _answers(state, snapshot)
    models = configured_models(environment)
    builders = [("A", "", choices_of(snapshot, state.first, models=models))]
    if state.second:
        builders.append(("B", SECOND, choices_of(snapshot, state.second, models=models, prefix=SECOND)))
    sections = verdicts.sections_of(snapshot, answers, opened=state.tool, only_differences=state.only)
    pages = frozenset(agents(environment).values_list("key", flat=True)) if state.tool else frozenset()
    return {
        "answers": answers,
        "builders": [(name, prefix, [choices[each] for each in FIELDS]) for name, prefix, choices in builders],
        "sections": sections,
        "shown": sum(len(section.rows) for section in sections),
        "total": len(snapshot.tool_names),
        "differences": verdicts.differences(answers),
        "traces": [verdicts.trace_of(snapshot, answer, state.tool, pages) for answer in answers] if state.tool else [],
        "is_known": state.tool in snapshot.tool_names,
        "tool_base": state.url(tool="") + ("&" if "?" in state.url(tool="") else "?") + "tool=",
        "columns": 1 + len(answers),
        "test_at": "draft" if state.at == "draft" else "",
        "may_test": may(request.user, Permission.POLICY_WRITE),
    }


@require_safe
@gate(Permission.EXPLAIN)
def explorer_export(request: ConsoleRequest) -> HttpResponse:
    """What the page shows, as JSON."""
    snapshot = _snapshot(request, request.GET.get("at", "live"))
    if snapshot is None:
        raise Http404
    state = State(request.GET.dict(), _first_agent(snapshot))
    exported = verdicts.export_of(snapshot, state.at, _answers(state, snapshot), state.tool)
    name = f"explorer-{snapshot.digest[:12]}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return JsonResponse(exported, headers=headers, json_dumps_params={"indent": 2, "ensure_ascii": False})
