"""What a request says: who asks, its body and its query, read as a whole or refused with every mistake."""

import re
from typing import Any, TypeVar, cast

from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer

from apps.accounts.access import Principal
from apps.api.errors import RequestInvalidError, details_of
from apps.api.serializers.shared import VersionSerializer

R = TypeVar("R")
LIMIT_DIGITS = 9


def principal_of(request: Request) -> Principal:
    return cast(Principal, request.user)


def body_of(request: Request, serializer: type[BaseSerializer[Any]], *, changes: Any = None) -> dict[str, Any]:
    """Read the body of a request.

    Args:
        changes: the record of which the body says some members.
    Raises:
        ValidationError: every mistake by its place.
    """
    return _read(serializer(changes, data=request.data, partial=changes is not None))


def query_of(request: Request, serializer: type[BaseSerializer[Any]]) -> dict[str, Any]:
    """Read the query of a request.

    Raises:
        RequestInvalidError: every mistake by its place.
    """
    try:
        return _read(serializer(data=request.query_params))
    except ValidationError as exc:
        raise RequestInvalidError(list(details_of(exc.detail))) from exc


LIMIT_TEXT = re.compile(r"0*[1-9][0-9]*")


def limit_of(request: Request, *, default: int, most: int) -> int:
    """Read `?limit=` of a list.

    Raises:
        RequestInvalidError: it is no whole number from 1 to what a page holds at most.
    """
    text = request.query_params.get("limit", "").strip()
    if not text:
        return default
    digits = text.lstrip("0") if text.isascii() and LIMIT_TEXT.fullmatch(text) else ""
    if not 0 < len(digits) <= LIMIT_DIGITS or int(digits) > most:
        message = f"`limit` must be a whole number from 1 to {most}"
        raise RequestInvalidError([{"path": "limit", "code": "invalid", "message": message}])
    return int(digits)


def version_of(request: Request) -> int:
    """Read `?version=` of a DELETE."""
    version: int = query_of(request, VersionSerializer)["version"]
    return version


def found(record: R | None, what: str) -> R:
    """Give the record that a path names.

    Raises:
        NotFound: there is none; whether it exists in another environment is not told.
    """
    if record is None:
        raise NotFound(f"no such {what}")
    return record


def _read(asked: BaseSerializer[Any]) -> dict[str, Any]:
    asked.is_valid(raise_exception=True)
    return dict(asked.validated_data)
