"""How a policy begins: the start page, and the import of documents."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission
from apps.console.diagnostics import groups_of
from apps.console.gate import ConsoleRequest, gate
from apps.console.release_forms import FILE_LIMIT_BYTES, TEXT_LIMIT, ImportForm
from apps.console.views.first_steps import steps_page
from apps.policies.document.reading import LIMIT_JSON5_BYTES
from apps.policies.errors import DocumentInvalidError, DraftNotEmptyError
from apps.policies.selectors import draft_change_count, global_policy, live_publication
from apps.policies.services import ImportReport, demo_import, document_check, document_import, draft_start
from apps.registry.services import environment_default

REPORT_KEY = "import_report"
REPORT_LIMIT = 400
KEPT_TEXT_LIMIT = 1024 * 1024
RECORD_WORDS = (
    "agent",
    "channel",
    "channelgroup",
    "senderrule",
    "providerpolicy",
    "allowlistentry",
    "permissiongrant",
    "contentfilter",
)


def has_begun(request: ConsoleRequest) -> bool:
    """Say whether the environment has a draft or something live; the start page is for those without."""
    environment = request.environment
    if not environment:
        return False
    return live_publication(environment) is not None or global_policy(environment) is not None


@require_safe
@gate(Permission.POLICY_READ)
def start(request: ConsoleRequest) -> HttpResponse:
    """The first steps: where they stand, and the one that is next."""
    return steps_page(request, wanted=request.GET.get("step", ""))


@require_POST
@gate(Permission.POLICY_WRITE)
def demo(request: ConsoleRequest) -> HttpResponse:
    """Load the demo, and go on to its review: nothing is live before somebody publishes."""
    try:
        demo_import(request.environment or environment_default(), by=request.user)
    except DraftNotEmptyError as error:
        messages.warning(request, error.message)
        return redirect("import")
    messages.success(request, _("The demo is the draft now. Look at it, then publish it."))
    return redirect("publish")


@require_POST
@gate(Permission.POLICY_WRITE)
def empty(request: ConsoleRequest) -> HttpResponse:
    """Begin with a draft that says nothing yet."""
    draft_start(request.environment or environment_default(), by=request.user)
    messages.success(request, _("An empty draft has begun. Add an agent, then publish."))
    try:
        return redirect(reverse("agents"))
    except NoReverseMatch:
        return redirect("publish")


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def import_documents(request: ConsoleRequest) -> HttpResponse:
    """Check documents, or make them the draft; a refused file changes nothing and stays in the form."""
    if request.method != "POST":
        report = request.session.get(REPORT_KEY) if "done" in request.GET else None
        return _page(request, ImportForm(), report=_shown_report(report) if report else None)
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, form, status=422)
    environment = request.environment or environment_default()
    if request.POST.get("action") == "check":
        found = document_check(environment, form.document, approvals=form.approvals, guards=form.guards)
        return _checked(request, form, found)
    try:
        report = document_import(
            environment, form.document, by=request.user, approvals=form.approvals, guards=form.guards
        )
    except DocumentInvalidError as error:
        return _page(request, _kept(form), mistakes=error.details, status=422)
    request.session[REPORT_KEY] = _stored_report(report)
    messages.success(request, _("Imported. Nothing is live until you publish."))
    return redirect(f"{reverse('import')}?done")


def _checked(request: ConsoleRequest, form: ImportForm, diagnostics: Iterable[Any]) -> HttpResponse:
    found = [item.as_detail() | {"severity": item.severity} for item in diagnostics]
    mistakes = [item for item in found if item["severity"] == "error"]
    if mistakes:
        return _page(request, _kept(form), mistakes=mistakes, status=422)
    checked = {"groups": groups_of(found), "count": len(found)}
    return _page(request, _kept(form), checked=checked)


def _kept(form: ImportForm) -> ImportForm:
    """Give the form back with what was sent; the text of a small file moves into its box, for browsers forget files."""
    sent = {"text": form.document, "approvals_text": form.approvals, "guards_text": form.guards}
    initial = {name: _as_text(value) for name, value in sent.items()}
    return ImportForm(initial=initial)


def _as_text(value: str | bytes | None) -> str:
    if value is None or len(value) > KEPT_TEXT_LIMIT:
        return ""
    return value if isinstance(value, str) else value.decode("utf-8-sig", errors="replace")


def _stored_report(report: ImportReport) -> dict[str, Any]:
    kept = [item.as_detail() | {"severity": item.severity} for item in report.diagnostics[:REPORT_LIMIT]]
    return {
        "counts": dict(report.counts),
        "records": dict(report.records),
        "diagnostics": kept,
        "total": len(report.diagnostics),
    }


def _shown_report(report: Mapping[str, Any]) -> dict[str, Any]:
    records = [(word, report["records"].get(word, 0)) for word in RECORD_WORDS]
    return {
        "counts": report["counts"],
        "records": [(word, number) for word, number in records if number],
        "groups": groups_of(report["diagnostics"]),
        "left_off": report["total"] - len(report["diagnostics"]),
    }


def _page(request: ConsoleRequest, form: ImportForm, *, status: int = 200, **shown: Any) -> HttpResponse:
    environment = request.environment
    context = {
        "form": form,
        "file_limit": FILE_LIMIT_BYTES,
        "text_limit": TEXT_LIMIT,
        "json5_limit": LIMIT_JSON5_BYTES,
        "has_draft": bool(environment) and has_begun(request),
        "change_count": draft_change_count(environment) if environment else 0,
        **shown,
    }
    return render(request, "console/start/import.html", context, status=status)
