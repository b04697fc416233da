"""One OpenAPI document for both doors of programs: agents' paths are plain ASGI and described by the gateway."""

from typing import Any

from apps.gateway.runtime_api.openapi import PATHS, SCHEMAS


def add_agents_paths(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the paths of the agents' door to the document that the library made (its post-processing hook)."""
    result["paths"] = dict(sorted({**result["paths"], **PATHS}.items()))
    components = result.setdefault("components", {})
    components["schemas"] = {**components.get("schemas", {}), **SCHEMAS}
    components.setdefault("securitySchemes", {})["bearer"] = {"type": "http", "scheme": "bearer"}
    return result
