"""People: who they are, what they may do, how they get in. For administrators."""

import uuid
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission
from apps.accounts.errors import LastAdminError, LinkInvalidError
from apps.accounts.selectors import (
    invitation_get,
    invitations_open,
    password_reset_get,
    password_resets_open,
    sessions_of,
    user_get,
    users,
)
from apps.accounts.services import (
    invitation_revoke,
    password_reset_link,
    password_reset_revoke,
    session_end,
    user_activate,
    user_deactivate,
    user_invite,
    user_set_role,
)
from apps.console.forms import InviteForm, RoleForm
from apps.console.gate import ConsoleRequest, gate
from apps.console.records import user_changed

if TYPE_CHECKING:
    from apps.console.gate import User


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.USERS_MANAGE)
@transaction.atomic
def people(request: ConsoleRequest) -> HttpResponse:
    """The list, and the form that makes a one-time link; the link is in the answer and nowhere else."""
    form = InviteForm(request.POST if request.method == "POST" else None)
    link = ""
    if request.method == "POST" and form.is_valid():
        invited, secret = user_invite(by=request.user, at=timezone.now(), **form.cleaned_data)
        link = f"{settings.PUBLIC_URL}{reverse('invitation', args=[secret])}"
        user_changed(request, request.user, what="invited", role=invited.role)
    context = {
        "form": form if form.errors else InviteForm(),
        "link": link,
        "people": users(),
        "invitations": invitations_open(timezone.now()),
        "resets": password_resets_open(timezone.now()),
    }
    return render(request, "console/accounts/users.html", context, status=422 if form.errors else 200)


@require_safe
@gate(Permission.USERS_MANAGE)
def person(request: ConsoleRequest, user_id: uuid.UUID) -> HttpResponse:
    return _page(request, _find(user_id))


def _find(user_id: uuid.UUID) -> "User":
    user = user_get(user_id)
    if user is None:
        raise Http404
    return user


def _page(request: ConsoleRequest, user: "User", *, error: str = "", link: str = "") -> HttpResponse:
    context = {
        "person": user,
        "role_form": RoleForm(initial={"role": user.role}),
        "sessions": sessions_of(user, timezone.now()),
        "resets": password_resets_open(timezone.now(), user=user),
        "current_session": request.session.session_key,
        "error": error,
        "link": link,
        "is_self": user.pk == request.user.pk,
    }
    return render(request, "console/accounts/user.html", context, status=409 if error else 200)


@require_POST
@gate(Permission.USERS_MANAGE)
@transaction.atomic
def role(request: ConsoleRequest, user_id: uuid.UUID) -> HttpResponse:
    user = _find(user_id)
    form = RoleForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest()  # no form of ours sends this
    before = user.role
    try:
        user = user_set_role(user, role=form.cleaned_data["role"], by=request.user)
    except LastAdminError:
        return _page(request, user, error=_("This is the last administrator. Make another one first."))
    if user.role != before:
        user_changed(request, user, what="role_changed", before=before, after=user.role)
    messages.success(request, _("Saved. It counts from the next request on."))
    return redirect("user", user_id=user.pk)


@require_POST
@gate(Permission.USERS_MANAGE)
@transaction.atomic
def active(request: ConsoleRequest, user_id: uuid.UUID) -> HttpResponse:
    """Switch an account off or on."""
    user = _find(user_id)
    is_on = request.POST.get("active") == "yes"
    try:
        changed = user_activate(user, by=request.user) if is_on else user_deactivate(user, by=request.user)
    except LastAdminError:
        return _page(request, user, error=_("This is the last administrator. Make another one first."))
    if changed.is_active != user.is_active:
        user_changed(request, user, what="activated" if is_on else "deactivated")
    messages.success(request, _("The account is on.") if is_on else _("The account is off. Its sessions have ended."))
    return redirect("user", user_id=user.pk)


@require_POST
@gate(Permission.USERS_MANAGE)
@transaction.atomic
def reset_link(request: ConsoleRequest, user_id: uuid.UUID) -> HttpResponse:
    """Make a one-time link to a new password; it is in the answer and nowhere else."""
    user = _find(user_id)
    try:
        made = password_reset_link(user, by=request.user, at=timezone.now())
    except LinkInvalidError:
        return _page(request, user, error=_("The account is off; switch it on first."))
    user_changed(request, user, what="reset_link_made")
    return _page(request, user, link=f"{settings.PUBLIC_URL}{made.path}")


@require_POST
@gate(Permission.USERS_MANAGE)
@transaction.atomic
def session_close(request: ConsoleRequest, user_id: uuid.UUID) -> HttpResponse:
    user = _find(user_id)
    if session_end(user, session_key=request.POST.get("session", "")):
        user_changed(request, user, what="session_ended")
    return redirect("user", user_id=user.pk)


@require_POST
@gate(Permission.USERS_MANAGE)
@transaction.atomic
def invitation_withdraw(request: ConsoleRequest, invitation_id: uuid.UUID) -> HttpResponse:
    invited = invitation_get(invitation_id)
    if invited is None:
        raise Http404
    invitation_revoke(invited, by=request.user, at=timezone.now())
    user_changed(request, request.user, what="invitation_withdrawn")
    messages.success(request, _("The link does not work any more."))
    return redirect("users")


@require_POST
@gate(Permission.USERS_MANAGE)
@transaction.atomic
def reset_withdraw(request: ConsoleRequest, reset_id: uuid.UUID) -> HttpResponse:
    """Withdraw a link to a new password."""
    reset = password_reset_get(reset_id)
    if reset is None:
        raise Http404
    was_open = reset.revoked_at is None and reset.used_at is None
    password_reset_revoke(reset, by=request.user, at=timezone.now())
    if was_open:
        user_changed(request, reset.user, what="reset_link_withdrawn")
    messages.success(request, _("The link does not work any more."))
    return redirect("users")
