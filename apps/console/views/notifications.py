"""How people and programs are told of requests: one's own channels, webhooks, and what became of messages."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission
from apps.console import notifications as shown
from apps.console.forms import ConsoleForm
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import environment_chosen, writing
from apps.notifications.errors import NotificationInvalidError, TriedTooSoonError
from apps.notifications.people import browser_add, browser_remove, notifications_test, preference_save
from apps.notifications.webhooks import webhook_add, webhook_change, webhook_remove, webhooks
from apps.registry.errors import RecordChangedError

WORKER = settings.BASE_DIR / "static" / "js" / "notification-worker.js"


@require_http_methods(["GET", "HEAD", "POST"])
@gate()
def notifications(request: ConsoleRequest) -> HttpResponse:
    """One's own channels, and below them those of the environment; POST saves one's choices."""
    if request.method != "POST":
        return _page(request)
    form = shown.ChoicesForm(request.POST)
    return _kept(request, form, lambda: preference_save(request.user, **form.cleaned_data)) or _page(
        request, choices=form
    )


@require_safe
def worker(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 - Django's signature
    """The script that shows messages while no page is open. Browsers let it rule the paths below its own."""
    answer = HttpResponse(WORKER.read_bytes(), content_type="text/javascript; charset=utf-8")
    answer["Cache-Control"] = "no-cache"
    return answer


@require_POST
@gate()
def browser_new(request: ConsoleRequest) -> HttpResponse:
    """Keep a browser that subscribed."""
    form = shown.BrowserForm(request.POST)
    if not form.is_valid():
        return JsonResponse({"message": _("these are no keys of a browser")}, status=422)
    try:
        row = browser_add(request.user, **form.cleaned_data)
    except NotificationInvalidError as error:
        return JsonResponse({"message": error.message}, status=422)
    return JsonResponse({"id": row.shown_id}, status=201)


@require_POST
@gate()
def browser_end(request: ConsoleRequest, subscription_id: UUID) -> HttpResponse:
    """Tell one of one's browsers nothing more."""
    if not browser_remove(request.user, subscription_id):
        raise Http404
    messages.success(request, _("Removed."))
    return redirect("notifications")


@require_POST
@gate()
def trying(request: ConsoleRequest) -> HttpResponse:
    """Tell this person on every channel they have."""
    try:
        notifications_test(request.user, environment_chosen(request), timezone.now())
    except TriedTooSoonError as error:
        messages.warning(request, error.message)
    return redirect("notifications")


@require_safe
@gate()
def tried(request: ConsoleRequest) -> HttpResponse:
    """What came of the last try; it is asked for again while something is on its way."""
    return render(request, "console/notifications/_tried.html", shown.tried_of(request.user))


@require_POST
@gate(Permission.POLICY_WRITE)
def webhook_new(request: ConsoleRequest) -> HttpResponse:
    """Add a webhook."""
    form = shown.WebhookForm(request.POST)

    def save() -> None:
        webhook_add(environment_chosen(request), by=request.user, **form.cleaned_data)

    return _kept(request, form, save) or _page(request, webhook=form)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def webhook(request: ConsoleRequest, webhook_id: int) -> HttpResponse:
    """Change one webhook."""
    record = _webhook(request, webhook_id)
    posted = request.POST if request.method == "POST" else None
    form = shown.WebhookChangeForm(posted, initial=shown.webhook_initial(record))

    def save() -> None:
        webhook_change(record, expected_version=form.cleaned_data["version"], by=request.user, **form.values())

    if posted is not None:
        done = _kept(request, form, save)
        if done is not None:
            return done
    context = {"webhook": form, "record": record}
    return render(request, "console/notifications/webhook.html", context, status=200 if posted is None else 422)


@require_POST
@gate(Permission.POLICY_WRITE)
def webhook_end(request: ConsoleRequest, webhook_id: int) -> HttpResponse:
    """Remove a webhook."""
    webhook_remove(_webhook(request, webhook_id), by=request.user)
    messages.success(request, _("Removed."))
    return redirect("notifications")


def _webhook(request: ConsoleRequest, webhook_id: int) -> "shown.Webhook":
    record = webhooks(environment_chosen(request)).filter(pk=webhook_id).first()
    if record is None:
        raise Http404
    return record


def _kept(request: ConsoleRequest, form: ConsoleForm, save: Callable[[], object]) -> HttpResponse | None:
    if not form.is_valid():
        return None
    try:
        save()
    except NotificationInvalidError as error:
        form.take_refusal(error)
    except RecordChangedError as error:
        form.add_error(None, error.message)
    else:
        messages.success(request, _("Saved."))
        return redirect("notifications")
    return None


def _page(request: ConsoleRequest, **posted: ConsoleForm) -> HttpResponse:
    forms: dict[str, Any] = {
        "choices": shown.ChoicesForm(initial=shown.choices_initial(request.user)),
        "webhook": shown.WebhookForm(),
    } | posted
    context = shown.page_of(request.user, environment_chosen(request)) | writing(request) | forms
    return render(request, "console/notifications/notifications.html", context, status=422 if posted else 200)
