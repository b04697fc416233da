"""The one place where errors become answers of the programs' door.

Every answer that is not a success has the shape `{"code", "message", "details": [{"path", "code", "message"}]}`.
"""

import logging
from collections.abc import Iterator
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response

from apps.firewall.errors import FirewallError

logger = logging.getLogger(__name__)

STATUS_OF_CODE: dict[str, int] = {
    "permission_denied": status.HTTP_403_FORBIDDEN,
    "own_request": status.HTTP_403_FORBIDDEN,
    "not_an_approver": status.HTTP_403_FORBIDDEN,
    "not_found": status.HTTP_404_NOT_FOUND,
    "approval_not_found": status.HTTP_404_NOT_FOUND,
    "call_not_found": status.HTTP_404_NOT_FOUND,
    "command_not_found": status.HTTP_404_NOT_FOUND,
    "gateway_not_found": status.HTTP_404_NOT_FOUND,
    "alarm_not_found": status.HTTP_404_NOT_FOUND,
    "team_not_found": status.HTTP_404_NOT_FOUND,
    "hold_not_found": status.HTTP_404_NOT_FOUND,
    "erasure_not_found": status.HTTP_404_NOT_FOUND,
    "erasure_held": status.HTTP_409_CONFLICT,
    "erasure_open": status.HTTP_409_CONFLICT,
    "export_not_found": status.HTTP_404_NOT_FOUND,
    "verification_not_found": status.HTTP_404_NOT_FOUND,
    "webhook_not_found": status.HTTP_404_NOT_FOUND,
    "grant_not_found": status.HTTP_404_NOT_FOUND,
    "session_not_found": status.HTTP_404_NOT_FOUND,
    "run_not_found": status.HTTP_404_NOT_FOUND,
    "conflict": status.HTTP_409_CONFLICT,
    "publication_conflict": status.HTTP_409_CONFLICT,
    "draft_moved": status.HTTP_409_CONFLICT,
    "publish_request_closed": status.HTTP_409_CONFLICT,
    "publish_request_stale": status.HTTP_409_CONFLICT,
    "bulk_edit_not_found": status.HTTP_404_NOT_FOUND,
    "undo_conflict": status.HTTP_409_CONFLICT,
    "undo_refused": status.HTTP_409_CONFLICT,
    "approval_already_decided": status.HTTP_409_CONFLICT,
    "approval_expired": status.HTTP_409_CONFLICT,
    "approval_cancelled": status.HTTP_409_CONFLICT,
    "approval_superseded": status.HTTP_409_CONFLICT,
    "caller_ended": status.HTTP_409_CONFLICT,
    "approval_frozen": status.HTTP_409_CONFLICT,
    "probes_busy": status.HTTP_409_CONFLICT,
    "halt_exists": status.HTTP_409_CONFLICT,
    "halt_lifted": status.HTTP_409_CONFLICT,
    "team_in_use": status.HTTP_409_CONFLICT,
    "source_busy": status.HTTP_409_CONFLICT,
    "replay_ended": status.HTTP_409_CONFLICT,
    "shadow_ended": status.HTTP_409_CONFLICT,
    "export_state": status.HTTP_409_CONFLICT,
    "drift_decided": status.HTTP_409_CONFLICT,
    "drift_pending": status.HTTP_409_CONFLICT,
    "audit_unavailable": status.HTTP_503_SERVICE_UNAVAILABLE,
}
"""Codes of the rooms whose status is not 422, the answer to a request that was understood and refused."""


class RequestInvalidError(FirewallError):
    """A request says what its operation does not know, or what cannot hold together; `details` names each place."""

    def __init__(self, details: list[dict[str, str]]) -> None:
        super().__init__("the request has mistakes")
        self.code = "invalid_request"  # as every door calls it, whoever found the mistakes
        self.details = details


def problem(code: str, message: str, details: list[dict[str, str]] | None = None) -> dict[str, Any]:
    return {"code": code, "message": message, "details": details or []}


def details_of(value: Any, path: str = "") -> Iterator[dict[str, str]]:
    """Flatten DRF's nested error details to one line a mistake, with its path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            place = "" if key == "non_field_errors" else str(key)
            yield from details_of(inner, f"{path}.{place}".strip("."))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from details_of(inner, path if not isinstance(inner, dict | list) else f"{path}[{index}]")
    else:
        yield {"path": path, "code": getattr(value, "code", "invalid"), "message": str(value)}


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:  # noqa: ARG001 - the hook's signature
    """Translate an exception of a view into the one error shape.

    Anything unknown is not translated: it is a defect, answered by Django's own 500 and logged.
    """
    if isinstance(exc, FirewallError):
        details = getattr(exc, "details", None)
        return Response(
            problem(exc.code, exc.message, details),
            status=STATUS_OF_CODE.get(exc.code, status.HTTP_422_UNPROCESSABLE_ENTITY),
        )
    if isinstance(exc, DataError):
        logger.warning("a value does not fit", exc_info=exc)
        return Response(
            problem("value_out_of_range", "a value is outside what can be stored"),
            status=status.HTTP_422_UNPROCESSABLE_ENTITY,
        )
    if isinstance(exc, OperationalError | InterfaceError):
        logger.error("no database", exc_info=exc)
        body = problem("database_unavailable", "the database does not answer")
        return Response(body, status=status.HTTP_503_SERVICE_UNAVAILABLE, headers={"Retry-After": "1"})
    if isinstance(exc, Http404):
        exc = exceptions.NotFound()
    elif isinstance(exc, PermissionDenied):
        exc = exceptions.PermissionDenied()
    if not isinstance(exc, exceptions.APIException):
        return None
    headers = {}
    if exc.status_code == status.HTTP_401_UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    wait_s = getattr(exc, "wait", None)  # of a throttle
    if wait_s is not None:
        headers["Retry-After"] = str(int(wait_s) + 1)
    if isinstance(exc, exceptions.ValidationError):
        body = problem("invalid_request", "the request has mistakes", list(details_of(exc.detail)))
    else:
        body = problem(str(exc.get_codes()), str(exc.detail))
    return Response(body, status=exc.status_code, headers=headers)
