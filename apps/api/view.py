"""The view that every path of programs is: what a request may say is what its operation's document says."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers, views
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.request import Request

from apps.api.errors import RequestInvalidError
from apps.firewall.tools.members import Members, unknown_member, unknown_members

NO_MEMBERS = Members(frozenset())


@dataclass(frozen=True, slots=True)
class Operation:
    """What the document of an operation knows.

    Args:
        query: names of its query parameters.
        body: the members of its body; None where the body is anything.
    """

    query: frozenset[str]
    body: Members | None


class APIView(views.APIView):
    """Refuse what the operation's document does not know: query parameters and members of the body, at any depth.

    The document is the one that `extend_schema` writes, so that a parameter that is read and not documented, or
    documented and not read, shows at once. Rights come first: a stranger is told nothing of the shapes.
    """

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        method = "GET" if request.method == "HEAD" else request.method or ""
        if method == "OPTIONS" or not hasattr(self, method.lower()):
            return
        operation = _operation(type(self), method)  # type: ignore[arg-type]  # a class can be hashed
        strangers = sorted(request.query_params.keys() - operation.query)
        mistakes = [unknown_member("", name, operation.query) for name in strangers]
        if method != "GET" and operation.body is not None:
            mistakes += unknown_members(_sent(request, operation.body), operation.body)
        if mistakes:
            raise RequestInvalidError(mistakes)


def _sent(request: Request, known: Members) -> Any:
    """Read the body; what is no JSON is none where the operation takes nothing: clients send empty forms."""
    try:
        return request.data
    except UnsupportedMediaType:
        if known is NO_MEMBERS:
            return {}
        raise


@lru_cache(maxsize=1024)
def _operation(view: type[views.APIView], method: str) -> Operation:
    schema = _schema_of(view, method)
    query: set[str] = set()
    for parameter in schema.get_override_parameters():
        if isinstance(parameter, OpenApiParameter):
            query |= {parameter.name} if parameter.location == OpenApiParameter.QUERY else set()
        else:
            query |= set(_made(parameter).fields)
    return Operation(frozenset(query), _body(schema.get_request_serializer()))


def _schema_of(view: type[views.APIView], method: str) -> AutoSchema:
    """Give the document of one operation as `extend_schema` left it at the handler."""
    handler = getattr(view, method.lower())
    schema: AutoSchema = handler.kwargs["schema"]()
    schema.view, schema.method = view(), method
    schema.view.request, schema.view.args, schema.view.kwargs = None, (), {}  # type: ignore[assignment]  # of none yet
    return schema


def _body(wanted: Any) -> Members | None:
    if wanted is None:
        return NO_MEMBERS
    if isinstance(wanted, Mapping):  # by media type
        return None
    if isinstance(wanted, type) and not issubclass(wanted, serializers.BaseSerializer):
        return None
    return _members(_made(wanted))


def _made(wanted: Any) -> Any:
    return wanted() if isinstance(wanted, type) else wanted


def _members(wanted: Any) -> Members | None:
    """Read the members of a serializer; None for a field that is no object of known members."""
    if isinstance(wanted, serializers.ListSerializer | serializers.ListField):
        return _members(wanted.child)
    if not isinstance(wanted, serializers.Serializer):
        members: Members | None = getattr(wanted, "members", None)
        return members
    written = {name: each for name, each in wanted.fields.items() if not each.read_only}
    inner = {name: members for name, each in written.items() if (members := _members(each)) is not None}
    return Members(frozenset(written), inner)
