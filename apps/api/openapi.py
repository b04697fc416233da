"""One OpenAPI document for both doors of programs: agents' paths are plain ASGI and described by the gateway."""

from typing import Any

from drf_spectacular.views import SpectacularJSONAPIView

from apps.api.view import APIView
from apps.gateway.runtime_api.openapi import PATHS, SCHEMAS
from apps.gateway.runtime_api.sent import close_requests


def add_agents_paths(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the paths of the agents' door to the document that the library made (its post-processing hook).

    What a request may hold is what it names: the schemas of bodies say so.
    """
    result["paths"] = dict(sorted({**result["paths"], **PATHS}.items()))
    components = result.setdefault("components", {})
    components["schemas"] = {**components.get("schemas", {}), **SCHEMAS}
    components.setdefault("securitySchemes", {})["bearer"] = {"type": "http", "scheme": "bearer"}
    close_requests(result["paths"], components["schemas"])
    return result


class OpenApiDocument(APIView, SpectacularJSONAPIView):
    """The document itself, for everybody."""
