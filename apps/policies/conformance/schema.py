"""Adapter of the area `schema`: what a provider receives."""

from collections.abc import Mapping
from typing import Any

from apps.firewall.engine.dialect import Dialect
from apps.firewall.tools.schema import clean_for_gemini, normalize_schema
from apps.firewall.tools.schema.releases import read_compat


def normalize(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema as the provider of the options receives it."""
    options = given.get("options") or {}
    result = normalize_schema(
        given["schema"],
        release=dialect.release,
        provider=options.get("modelProvider") or "",
        model=options.get("modelId") or "",
        compat=read_compat(options.get("modelCompat")),
    )
    return {"schema": result.schema}


def gemini_clean(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema after the Gemini cleaner alone."""
    return {"schema": clean_for_gemini(given["schema"], release=dialect.release).schema}
