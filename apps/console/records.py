"""What the console's own doings leave in the ledger: sign-ins, changes of people and tokens."""

from typing import TYPE_CHECKING, Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest

from apps.accounts.telling import token_told
from apps.audit.drafts import EntryDraft, EntryKind

if TYPE_CHECKING:
    from apps.accounts.models import ApiToken, User


def _record(draft: EntryDraft) -> None:
    from apps.audit.services import entry_record

    entry_record(draft)


def user_changed(request: HttpRequest, user: "User", *, what: str, by: "User | None" = None, **changes: Any) -> None:
    """Record a change of a person: `joined`, `role_changed`, `deactivated`, …"""
    actor = by or request.user
    _record(
        EntryDraft(
            kind=EntryKind.USER_CHANGE,
            actor=getattr(actor, "actor", "system"),
            status=what,
            changes={"user": user.username, **changes},
        )
    )


def token_changed(by: "User", token: "ApiToken", *, what: str) -> None:
    """Record that a token was made or revoked."""
    changes = token_told(token)
    _record(
        EntryDraft(kind=EntryKind.TOKEN, actor=by.actor, environment=token.environment, status=what, changes=changes)
    )


def _signed_in(user: "User", **kwargs: Any) -> None:  # noqa: ARG001 - a signal's arguments
    _record(EntryDraft(kind=EntryKind.SIGN_IN, actor=user.actor, status="signed_in"))


def _signed_out(user: "User | None", **kwargs: Any) -> None:  # noqa: ARG001 - a signal's arguments
    if user is not None:
        _record(EntryDraft(kind=EntryKind.SIGN_IN, actor=user.actor, status="signed_out"))


def _refused(credentials: dict[str, Any], **kwargs: Any) -> None:  # noqa: ARG001 - a signal's arguments
    name = str(credentials.get("username", ""))[:64]
    _record(EntryDraft(kind=EntryKind.SIGN_IN, actor="system", status="refused", changes={"username": name}))


def listen() -> None:
    """Hear Django's signals about sign-ins."""
    user_logged_in.connect(_signed_in, dispatch_uid="console.signed_in")
    user_logged_out.connect(_signed_out, dispatch_uid="console.signed_out")
    user_login_failed.connect(_refused, dispatch_uid="console.refused")
