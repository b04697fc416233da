"""Remove keywords that one model refuses, wherever a schema stands; names of properties are left alone."""

from typing import Any, Final

from apps.firewall.tools.schema.changes import Cause, ChangeLog
from apps.firewall.tools.schema.limits import escape
from apps.firewall.tools.schema.releases import (
    GRAMMAR_REPEATS_LIMIT,
    LISTS,
    MAPS,
    OLDER_MAPS,
    OLDER_SCHEMAS,
    SCHEMAS,
)

_MAPS: Final = MAPS | OLDER_MAPS
_SCHEMAS: Final = SCHEMAS | OLDER_SCHEMAS


def remove_keywords(node: Any, unsupported: frozenset[str], log: ChangeLog, path: str = "") -> Any:
    """Return a schema without some keywords."""
    if isinstance(node, list):
        return [remove_keywords(each, unsupported, log, f"{path}/{index}") for index, each in enumerate(node)]
    if not isinstance(node, dict):
        return node
    result: dict[str, Any] = {}
    for key, value in node.items():
        if key in unsupported:
            log.removed(path, key, Cause.MODEL_KEYWORD)
        elif key in _MAPS and isinstance(value, dict):
            result[key] = {
                name: remove_keywords(each, unsupported, log, f"{path}/{key}/{escape(name)}")
                for name, each in value.items()
            }
        elif key in _SCHEMAS or (key in LISTS and isinstance(value, list)):
            result[key] = remove_keywords(value, unsupported, log, f"{path}/{key}")
        else:
            result[key] = value
    return result


def fit_grammar(node: Any, log: ChangeLog, path: str = "") -> Any:
    """Return a schema that llama.cpp can turn into a grammar: no expressions, no long repetitions."""
    if isinstance(node, list):
        return [fit_grammar(each, log, f"{path}/{index}") for index, each in enumerate(node)]
    if not isinstance(node, dict):
        return node
    result: dict[str, Any] = {}
    for key, value in node.items():
        if key == "pattern":
            log.removed(path, key, Cause.GRAMMAR_PATTERN)
        elif key == "maxLength" and _repeats(value) >= GRAMMAR_REPEATS_LIMIT:
            log.removed(path, key, Cause.GRAMMAR_LENGTH)
        elif key in MAPS and isinstance(value, dict):
            result[key] = {name: fit_grammar(each, log, f"{path}/{key}/{escape(name)}") for name, each in value.items()}
        elif key in _SCHEMAS or key in LISTS:
            result[key] = fit_grammar(value, log, f"{path}/{key}")
        else:
            result[key] = value
    return result


def _repeats(value: Any) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0
