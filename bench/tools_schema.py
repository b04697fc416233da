"""Schemas for providers: normalised afresh, and answered from memory."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from apps.firewall.tools.schema import Family, normalize_schema, normalized
from bench.figures import Figure, percentile, shown, timed

VECTORS = Path(__file__).resolve().parent.parent / "tests" / "conformance" / "schema.jsonl"
FAMILIES = {"openai": Family.OPENAI, "anthropic": Family.ANTHROPIC, "google": Family.GEMINI}
AFRESH_S, FROM_MEMORY_S = 200e-6, 20e-6
ROUNDS = 5
TOOL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "owner": {"type": "string", "minLength": 1, "maxLength": 39, "pattern": "^[a-z0-9-]+$"},
        "repo": {"type": "string", "minLength": 1, "maxLength": 100},
        "title": {"type": "string", "minLength": 1, "maxLength": 256, "description": "One line."},
        "labels": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "maxItems": 20},
        "milestone": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        "priority": {"type": "string", "enum": ["low", "normal", "high"], "default": "normal"},
    },
    "required": ["owner", "repo", "title"],
    "additionalProperties": False,
}


def measure() -> Iterator[Figure]:
    """Measure a tool of six parameters, and all recorded schemas, for three providers."""
    recorded = [
        row["input"]["schema"] for row in map(json.loads, VECTORS.open(encoding="utf-8")) if row["kind"] != "dump"
    ]
    schemas = [schema for schema in recorded if isinstance(schema, dict)]
    for provider, family in FAMILIES.items():
        options = {"provider": provider, "family": family}
        yield _figure(
            f"schema of 6 parameters for {provider}, normalised", normalize_schema, [TOOL] * 200, options, AFRESH_S
        )
        yield _figure(
            f"{len(schemas)} recorded schemas for {provider}, normalised", normalize_schema, schemas, options, AFRESH_S
        )
    options = {"provider": "google", "family": Family.GEMINI}
    yield _figure("schema of 6 parameters, from memory by its text", normalized, [TOOL] * 500, options, FROM_MEMORY_S)
    named = {**options, "digest": "bench"}
    yield _figure("schema of 6 parameters, from memory by its digest", normalized, [TOOL] * 500, named, FROM_MEMORY_S)


def _figure(what: str, call: Any, schemas: list[Any], options: dict[str, Any], limit_s: float) -> Figure:
    best = [min(timed(partial(call, schema, **options), rounds=ROUNDS)) for schema in schemas]
    middle, high = percentile(best, 0.5), percentile(best, 0.99)
    return Figure(what, f"p50 {shown(middle)}, p99 {shown(high)}", f"p50 ≤ {shown(limit_s)}", middle <= limit_s)
