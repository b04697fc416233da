"""Getting in: password change, one-time links. Sign-in and sign-out are allauth's views with our templates."""

import uuid

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from apps.accounts.errors import LinkInvalidError, UserInvalidError
from apps.accounts.selectors import invitation_find, password_reset_find
from apps.accounts.services import invitation_accept, password_change, password_reset
from apps.console.forms import JoinForm, PasswordChangeForm, PasswordForm
from apps.console.gate import ConsoleRequest, gate
from apps.console.records import user_changed

METHODS = ["GET", "HEAD", "POST"]


@sensitive_post_parameters()
@require_http_methods(METHODS)
@gate()
def password(request: ConsoleRequest) -> HttpResponse:
    """Change one's own password; every other session ends."""
    form = PasswordChangeForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            _change(request, form)
        except UserInvalidError as error:
            form.take_refusal(error)
    if request.method == "POST" and not form.errors:
        messages.success(request, _("Your password is changed. Every other session of yours has ended."))
        return redirect("settings")
    return render(request, "account/password_change.html", {"form": form}, status=422 if form.errors else 200)


@transaction.atomic
def _change(request: ConsoleRequest, form: PasswordChangeForm) -> None:
    if not request.user.check_password(form.cleaned_data["old_password"]):
        form.add_error("old_password", _("This is not your current password."))
        return
    user = password_change(
        request.user, password=form.cleaned_data["password"], keep_session=request.session.session_key
    )
    update_session_auth_hash(request, user)
    user_changed(request, user, what="password_changed")


@sensitive_post_parameters()
@never_cache
@require_http_methods(METHODS)
@transaction.atomic
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Join by an invitation's link."""
    invited = invitation_find(secret, timezone.now())
    if invited is None:
        return render(request, "account/link_invalid.html", status=404)
    form = JoinForm(request.POST or None, initial={"display_name": invited.display_name})
    if request.method == "POST" and form.is_valid():
        try:
            user = invitation_accept(secret, at=timezone.now(), **form.cleaned_data)
        except LinkInvalidError:
            return render(request, "account/link_invalid.html", status=404)
        except UserInvalidError as error:
            form.take_refusal(error)
        else:
            user_changed(request, user, what="joined", by=user)
            messages.success(request, _("Welcome. Sign in with the user name and password you chose."))
            return redirect("account_login")
    context = {"form": form, "invited": invited}
    return render(request, "account/invitation.html", context, status=422 if form.errors else 200)


@sensitive_post_parameters()
@never_cache
@require_http_methods(METHODS)
@transaction.atomic
def reset(request: HttpRequest, user_id: uuid.UUID, secret: str) -> HttpResponse:
    """Set a new password by a one-time link; one that does not work any more says so before anybody types."""
    if password_reset_find(user_id, secret, timezone.now()) is None:
        return render(request, "account/link_invalid.html", status=404)
    form = PasswordForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            user = password_reset(user_id, secret=secret, password=form.cleaned_data["password"], at=timezone.now())
        except LinkInvalidError:
            return render(request, "account/link_invalid.html", status=404)
        except UserInvalidError as error:
            form.take_refusal(error)
        else:
            user_changed(request, user, what="password_reset", by=user)
            messages.success(request, _("Your new password is set. Sign in with it."))
            return redirect("account_login")
    return render(request, "account/password_reset.html", {"form": form}, status=422 if form.errors else 200)
