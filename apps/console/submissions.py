"""A form that is sent twice is done once: the second press gets the answer of the first.

Each form of a page carries a token of its own: `csrfmiddlewaretoken` is masked anew wherever it is written. The same
token with the same fields, from the same session, is the same form sent again: a double click, or a browser that
repeats. A form that was shown anew is another one.
"""

import hashlib
import json
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from http.cookies import SimpleCookie
from typing import Any, Final

from django.core.cache import cache
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from apps.keys.seal import seal, unseal

TOKEN: Final = "csrfmiddlewaretoken"  # noqa: S105 - the name of a field
PURPOSE: Final = "console.submission"
KEPT_S: Final = 3
"""How long after it was done a form counts as sent already."""
WORK_S: Final = 60
"""How long the second waits for the first."""
LOOK_S: Final = 0.02
ANSWER_LIMIT_BYTES: Final = 2 * 1024 * 1024
IN_WORK: Final = b""


class SubmissionMiddleware:
    """Answer the second of two equal submissions with what the first was answered."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        answer = self.get_response(request)
        key = getattr(request, "_submission", None)
        if key is not None:
            _keep(key, answer)
        return answer

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., HttpResponse],  # noqa: ARG002 - the hook's signature
        args: tuple[Any, ...],  # noqa: ARG002
        kwargs: dict[str, Any],  # noqa: ARG002
    ) -> HttpResponseBase | None:
        if request.method != "POST" or not request.session.session_key or TOKEN not in request.POST:
            return None
        key = _key(request)
        until = time.monotonic() + WORK_S
        while not cache.add(key, IN_WORK, WORK_S):
            kept = cache.get(key)
            if kept:
                return _answer(kept)
            if time.monotonic() > until:
                return None
            time.sleep(LOOK_S)
        request._submission = key  # type: ignore[attr-defined]
        return None


def _key(request: HttpRequest) -> str:
    digest = hashlib.sha256()
    said = [request.session.session_key, request.get_full_path(), request.headers.get("HX-Target", "")]
    fields = sorted((name, request.POST.getlist(name)) for name in request.POST)
    digest.update(json.dumps([said, fields]).encode())
    for name, uploads in sorted(request.FILES.lists()):
        for upload in uploads:
            digest.update(json.dumps([name, upload.name, upload.size]).encode())
            _digest_file(digest, upload)
    return f"submission:{digest.hexdigest()}"


def _digest_file(digest: "hashlib._Hash", upload: "UploadedFile[Any]") -> None:
    for chunk in upload.chunks():
        digest.update(chunk)
    upload.seek(0)


def _keep(key: str, answer: HttpResponseBase) -> None:
    """Keep an answer, sealed: it may show a secret that is shown once. What failed on our side may be tried again."""
    is_whole = isinstance(answer, HttpResponse) and len(answer.content) <= ANSWER_LIMIT_BYTES
    if answer.status_code >= 500 or not is_whole:
        cache.delete(key)
        return
    assert isinstance(answer, HttpResponse)  # noqa: S101 - it is whole
    said = {
        "status": answer.status_code,
        "headers": list(answer.items()),
        "cookies": answer.cookies.output(header="", sep="\n"),
        "content": b64encode(answer.content).decode(),
    }
    cache.set(key, seal(json.dumps(said).encode(), purpose=PURPOSE), KEPT_S)


def _answer(kept: bytes) -> HttpResponse:
    said = json.loads(unseal(kept, purpose=PURPOSE))
    answer = HttpResponse(b64decode(said["content"]), status=said["status"])
    for name, value in said["headers"]:
        answer[name] = value
    for line in said["cookies"].splitlines():
        answer.cookies.update(SimpleCookie(line.strip()))
    return answer
