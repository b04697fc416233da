"""A form that was sent after the session had ended comes back, filled in, to the person who typed it.

Pages leave a signed note of whose they are in a cookie that outlives the session. A form that comes without a session
is kept under that person, sealed, one at a time and not for long, and is shown to nobody else who signs in there.
Passwords, other secrets and files are never kept. Nothing is done with a form before it is sent again.
"""

import json
import re
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core import signing
from django.core.cache import cache
from django.http import HttpRequest, HttpResponseBase
from django.utils.http import url_has_allowed_host_and_scheme

from apps.accounts.models import User
from apps.console.submissions import TOKEN
from apps.keys.seal import seal, unseal

COOKIE: Final = "openclaw_person"
COOKIE_AGE_S: Final = 30 * 24 * 60 * 60
KEPT_S: Final = 30 * 60
LIMIT_BYTES: Final = 256 * 1024
"""A larger form is not kept: imported documents are files, or are pasted again."""
PURPOSE: Final = "console.kept_form"
SECRET: Final = re.compile(r"pass|secret|token|authori[sz]ation|credential|private|api_?key", re.IGNORECASE)


def person_remember(request: HttpRequest, answer: HttpResponseBase) -> None:
    """Leave a note of whose the page is, where there is none yet."""
    if not isinstance(request.user, User) or _person(request) == str(request.user.pk):  # not a program
        return
    answer.set_cookie(
        COOKIE,
        signing.dumps(str(request.user.pk), salt=PURPOSE),
        max_age=COOKIE_AGE_S,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def form_keep(request: HttpRequest) -> None:
    """Keep what was typed into a form that came without a session; nothing where nobody knows who typed it."""
    person = _person(request)
    if request.method != "POST" or not person:
        return
    kept = {"page": urlsplit(page_of(request)).path, "action": request.path, "fields": _typed(request)}
    text = json.dumps(kept).encode()
    if kept["fields"] and len(text) <= LIMIT_BYTES:
        cache.set(_key(person), seal(text, purpose=PURPOSE), KEPT_S)


def form_kept(request: HttpRequest) -> dict[str, Any] | None:
    """Take the form that the person of this request typed on this page before the session ended; None for none."""
    key = _key(str(request.user.pk))
    sealed = cache.get(key) if request.user.is_authenticated and request.method == "GET" else None
    if sealed is None:
        return None
    kept: dict[str, Any] = json.loads(unseal(sealed, purpose=PURPOSE))
    if kept["page"] != request.path:
        return None
    cache.delete(key)
    return kept


def page_of(request: HttpRequest) -> str:
    """Say on which page a form was: where it was sent from, as far as that lies here; else where it was sent to."""
    sent_from = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(sent_from, {request.get_host()}, require_https=request.is_secure()):
        return request.get_full_path()
    parts = urlsplit(sent_from)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _typed(request: HttpRequest) -> list[list[str]]:
    names = [name for name in request.POST if name != TOKEN and not SECRET.search(name)]
    return [[name, value] for name in names for value in request.POST.getlist(name)]


def _person(request: HttpRequest) -> str:
    try:
        said: str = signing.loads(request.COOKIES.get(COOKIE, ""), salt=PURPOSE, max_age=COOKIE_AGE_S)
    except signing.BadSignature:
        return ""
    return said


def _key(person: str) -> str:
    return f"kept-form:{person}"
