"""API tokens: make, show once, revoke."""

import uuid
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.access import Permission
from apps.accounts.errors import AccountError
from apps.accounts.selectors import token_get, tokens
from apps.accounts.services import token_create, token_revoke
from apps.console.environments import environments_of
from apps.console.forms import TokenForm
from apps.console.gate import ConsoleRequest, gate
from apps.console.records import token_changed


@sensitive_variables("secret")
@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.TOKENS_MANAGE)
@transaction.atomic
def token_list(request: ConsoleRequest) -> HttpResponse:
    """The list, and the form that makes a token; its secret is in the answer and nowhere else."""
    slugs = [environment.slug for environment in environments_of(request)]
    form = TokenForm(request.POST if request.method == "POST" else None, slugs=slugs, by=request.user)
    made, secret = None, ""
    if request.method == "POST" and form.is_valid():
        try:
            made, secret = token_create(by=request.user, **_values(form))
        except AccountError as error:
            form.take_refusal(error)
        else:
            token_changed(request.user, made, what="created")
    context = {
        "form": form if form.errors else TokenForm(slugs=slugs, by=request.user),
        "made": made,
        "secret": secret,
        "tokens": tokens(),
        "now": timezone.now(),
        "shows_environment": len(slugs) > 1,
    }
    return render(request, "console/tokens/tokens.html", context, status=422 if form.errors else 200)


def _values(form: TokenForm) -> dict[str, Any]:
    days = form.cleaned_data["days"]
    return {
        "name": form.cleaned_data["name"],
        "scopes": form.cleaned_data["scopes"],
        "environment": form.cleaned_data["environment"],
        "agents": form.cleaned_data["agents"].replace(",", " ").split(),
        "expires_at": timezone.now() + timedelta(days=int(days)) if days else None,
    }


@require_POST
@gate(Permission.TOKENS_MANAGE)
@transaction.atomic
def revoke(request: ConsoleRequest, token_id: uuid.UUID) -> HttpResponse:
    token = token_get(token_id)
    if token is None:
        raise Http404
    was_revoked = token.revoked_at is not None
    token = token_revoke(token, by=request.user, at=timezone.now())
    if not was_revoked:
        token_changed(request.user, token, what="revoked")
    messages.success(request, _("The token does not work any more."))
    return redirect("tokens")
