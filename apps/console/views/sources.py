"""Discovery sources: the list, one source with its looks, the form, looking now."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission
from apps.console import sources as shown
from apps.console.answers import status_of
from apps.console.gate import ConsoleRequest, gate
from apps.console.source_forms import SourceForm
from apps.console.views.agents import environment_chosen, writing
from apps.console.views.record_parts import form_status, record_remove, record_save
from apps.firewall.identifiers import read_id
from apps.registry.errors import RegistryError
from apps.registry.selectors import run_get, source_find
from apps.registry.services import source_create, source_delete, source_save
from apps.registry.tasks import look_begin


@require_safe
@gate(Permission.POLICY_READ)
def sources(request: ConsoleRequest) -> HttpResponse:
    """Every place where tools are looked for, with its last look."""
    context = {"rows": shown.source_rows(environment_chosen(request)), "kinds": shown.KINDS} | writing(request)
    return render(request, "console/sources/sources.html", context)


def source_asked(request: ConsoleRequest, key: str) -> "shown.SourceRecord":
    """Find the source of a page.

    Raises:
        Http404: there is none of that key.
    """
    record = source_find(environment_chosen(request), key)
    if record is None:
        raise Http404
    return record


@require_safe
@gate(Permission.POLICY_READ)
def source(request: ConsoleRequest, key: str) -> HttpResponse:
    """One source: how it is reached, its looks, what they found, its tools."""
    record = source_asked(request, key)
    context = _looks(request, record) | {
        "settings": shown.settings_shown(record),
        "kind": shown.kind_word(record.kind),
        **writing(request),
    }
    return render(request, "console/sources/source.html", context)


def _looks(request: ConsoleRequest, record: "shown.SourceRecord") -> dict[str, Any]:
    runs = shown.runs_shown(record)
    opened = _opened(request, record) or (run_get(record.environment, runs[0].record.pk) if runs else None)
    tools = shown.tools_shown(record)
    return {
        "record": record,
        "runs": runs,
        "last": runs[0] if runs else None,
        "is_running": bool(runs) and runs[0].is_running,
        "opened": None if opened is None else shown.run_shown(opened),
        "findings": [] if opened is None else shown.findings_of(opened),
        "tools": tools[: shown.TOOLS_SHOWN],
        "tools_count": len(tools),
        "findings_left": 0 if opened is None else max(0, len(opened.findings) - shown.FINDINGS_SHOWN),
    }


def _opened(request: ConsoleRequest, record: "shown.SourceRecord") -> Any:
    wanted = request.GET.get("run", "")
    if not wanted:
        return None
    try:
        found = run_get(record.environment, read_id("run", wanted))
    except ValueError:
        raise Http404 from None
    if found is None or found.source_id != record.pk:
        raise Http404
    return found


@require_safe
@gate(Permission.POLICY_READ)
def source_looks(request: ConsoleRequest, key: str) -> HttpResponse:
    """The looks alone; the fragment asks again while one runs."""
    record = source_asked(request, key)
    return render(request, "console/sources/_looks.html", _looks(request, record) | writing(request))


@require_POST
@gate(Permission.POLICY_WRITE)
def source_look(request: ConsoleRequest, key: str) -> HttpResponse:
    """Look through a source now; the page shows how far it is."""
    record = source_asked(request, key)
    look_begin(record, by=request.user)
    if not request.htmx:
        return redirect("source", record.key)
    return render(request, "console/sources/_looks.html", _looks(request, record) | writing(request))


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def source_new(request: ConsoleRequest) -> HttpResponse:
    """Choose a kind, then say where and how."""
    kind = request.GET.get("kind", "")
    if kind not in shown.KINDS:
        return render(request, "console/sources/kinds.html", {"kinds": shown.KINDS})
    form = SourceForm(request.POST if request.method == "POST" else None, kind=kind)

    def create() -> "shown.SourceRecord":
        members = {"key": form.cleaned_data["key"], "kind": kind, **_members(form)}
        return source_create(environment_chosen(request), by=request.user, **members)

    made = record_save(request, form, create, told=_("Added. Look through it to see what it brings.")).record
    return redirect("source", made.key) if made else _form_page(request, form, kind=kind, record=None)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def source_edit(request: ConsoleRequest, key: str) -> HttpResponse:
    """Change how a source is reached."""
    record = source_asked(request, key)
    form = SourceForm(request.POST if request.method == "POST" else None, kind=record.kind, source=record)

    def save() -> "shown.SourceRecord":
        version = form.cleaned_data["version"]
        return source_save(record, expected_version=version, by=request.user, **_members(form))

    saved = record_save(request, form, save, told=_("Saved."))
    if saved.record:
        return redirect("source", saved.record.key)
    return _form_page(request, form, kind=record.kind, record=record, conflict=saved.is_conflict)


def _members(form: SourceForm) -> dict[str, Any]:
    return {"settings": form.settings(), "secrets": form.secrets(), **form.options()}


def _form_page(request: ConsoleRequest, form: SourceForm, **more: Any) -> HttpResponse:
    context = {"form": form, "kind_word": shown.kind_word(more["kind"]), **more}
    status = form_status(form, conflict=more.get("conflict", False))
    return render(request, "console/sources/form.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def source_remove(request: ConsoleRequest, key: str) -> HttpResponse:
    """Ask before a source goes, and its tools with it."""
    record = source_asked(request, key)
    error = None
    if request.method == "POST":
        try:
            record_remove(request, record, source_delete)
        except RegistryError as exc:
            error = exc
        else:
            return redirect("sources")
    tools = [each for each in shown.tools_shown(record) if each.record.state != "unregistered"]
    context = {"record": record, "tools": tools, "error": error}
    return render(request, "console/sources/remove.html", context, status=200 if error is None else status_of(error))
