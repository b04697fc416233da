"""Give arrays a description of their items, or take the empty one away from models that refuse it."""

from typing import Any

from apps.firewall.tools.schema.changes import Cause, ChangeLog
from apps.firewall.tools.schema.limits import escape
from apps.firewall.tools.schema.releases import LISTS, MAPS, SCHEMAS


def describe_items(node: Any, log: ChangeLog, path: str = "") -> Any:
    """Return a schema in which whatever is of the type `array`, and of no other, has `items`."""
    if not isinstance(node, dict):
        return node
    result = dict(node)
    if node.get("type") == "array" and "items" not in node:
        log.added(path, "items", Cause.ITEMS_MISSING)
        result["items"] = {}
    for key, value in node.items():
        if isinstance(value, dict) and key in MAPS:
            result[key] = {
                name: describe_items(each, log, f"{path}/{key}/{escape(name)}") for name, each in value.items()
            }
        elif isinstance(value, dict) and (key in SCHEMAS or key in LISTS):
            result[key] = describe_items(value, log, f"{path}/{key}")
        elif isinstance(value, list) and (key in SCHEMAS or key in LISTS):
            result[key] = [describe_items(each, log, f"{path}/{key}/{index}") for index, each in enumerate(value)]
    return result


def omit_empty_items(node: Any, log: ChangeLog, path: str = "") -> Any:
    """Return a schema in which no array has `items: {}`.

    A schema that stands where a list of schemas belongs is treated as `describe_items` does; the recordings do, too.
    """
    if isinstance(node, list):
        return [omit_empty_items(each, log, f"{path}/{index}") for index, each in enumerate(node)]
    if not isinstance(node, dict):
        return node
    kinds = node.get("type")
    is_array = kinds == "array" or (isinstance(kinds, list) and "array" in kinds)
    result: dict[str, Any] = {}
    for key, value in node.items():
        if key == "items" and is_array and value == {}:
            log.removed(path, key, Cause.ITEMS_EMPTY)
        elif isinstance(value, dict) and key in MAPS:
            result[key] = {
                name: omit_empty_items(each, log, f"{path}/{key}/{escape(name)}") for name, each in value.items()
            }
        elif key in SCHEMAS or (isinstance(value, list) and key in LISTS):
            result[key] = omit_empty_items(value, log, f"{path}/{key}")
        else:
            result[key] = describe_items(value, log, f"{path}/{key}") if key in LISTS else value
    return result
