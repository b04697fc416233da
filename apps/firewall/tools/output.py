"""Whether a tool's result keeps what its definition promises."""

import json
from functools import lru_cache
from typing import Any

import jsonschema_rs

from apps.firewall.tools.definition import Definition


def broken_promise(definition: Definition, result: Any) -> str:
    """Say how a result breaks the output schema of its tool; empty when it keeps it, or nothing was promised."""
    if definition.output is None:
        return ""
    try:
        error = next(_promise(json.dumps(definition.output)).iter_errors(result), None)
    except (ValueError, jsonschema_rs.ReferencingError) as exc:
        return f"the tool's output schema cannot be used: {str(exc).splitlines()[0]}"
    if error is None:
        return ""
    place = "/".join(str(step) for step in error.instance_path)
    return f"the result breaks the tool's output schema at `/{place}`: {error.message[:300]}"


@lru_cache(maxsize=256)
def _promise(schema: str) -> jsonschema_rs.Draft202012Validator:
    # offline: a `$ref` must not make us open an address; RegexOptions: the engine without backtracking
    return jsonschema_rs.Draft202012Validator(
        json.loads(schema), offline=True, pattern_options=jsonschema_rs.RegexOptions()
    )
