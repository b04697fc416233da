"""The members of a definition besides name, description and params: do they fit each other?"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from apps.firewall.redaction.names import is_secret_name
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.lint.findings import Finding, found
from apps.firewall.tools.lint.naming import own_name
from apps.firewall.tools.lint.params import broken_rule, params_of
from apps.firewall.tools.resources import resource_places

_PERMISSION: Final = re.compile(r"[a-z][a-z0-9_-]*(?::[a-z0-9_*-]+)+")
_REFERENCE: Final = "$secret"


def check_metadata(definition: Definition) -> Iterator[Finding]:
    """Check examples, permissions, version, requirements, and what names params."""
    for check in (_examples, _forms, _names, _behaviour):
        yield from check(definition)
    for member in _clear_secrets(definition.config):
        yield found("secret_in_config", f"config.{member}", member=member)


def _examples(definition: Definition) -> Iterator[Finding]:
    for number, example in enumerate(definition.examples, start=1):
        reason = broken_rule(definition.parameters, dict(example.parameters))
        if reason is not None:
            yield found("example_invalid", f"examples[{number - 1}]", number=number, reason=reason)


def _forms(definition: Definition) -> Iterator[Finding]:
    for index, permission in enumerate(definition.permissions):
        if not _PERMISSION.fullmatch(permission):
            yield found("permission_form", f"permissions[{index}]", permission=permission)
    try:
        Version(definition.version or "0")
    except InvalidVersion:
        yield found("version_form", "version", version=definition.version)
    for index, dependency in enumerate(definition.dependencies):
        try:
            Requirement(dependency)
        except InvalidRequirement as exc:
            reason = str(exc).splitlines()[0]
            yield found("dependency_form", f"dependencies[{index}]", dependency=dependency, reason=reason)


def _names(definition: Definition) -> Iterator[Finding]:
    """Check every member that names params."""
    known = {name for param in params_of(definition.parameters) for name in (param.name, param.path)}
    required = {param.path for param in params_of(definition.parameters) if param.is_required}
    for name in definition.sensitive:
        if name not in known and not _is_in_open(name, definition.parameters):
            yield found("sensitive_unknown", "sensitive", param=name)
    for name in resource_places(definition):
        if name not in {each.replace("[]", "") for each in known}:
            yield found("resource_unknown", "resources", param=name)
    for name in definition.context_mappings:
        if name not in known:
            yield found("context_unknown", "context_mappings", param=name)
        elif name in required:
            yield found("context_param_required", "context_mappings", param=name)
    for name in definition.cache.key if definition.cache else ():
        if name not in known:
            yield found("cache_key_unknown", "cache.key", param=name)


def _is_in_open(name: str, schema: Mapping[str, Any]) -> bool:
    """Say whether a place lies in an object that takes members of any name, such as `headers.Authorization`."""
    return any(
        name.startswith(f"{param.path}.")
        and "object" in str(param.schema.get("type", "object"))
        and param.schema.get("additionalProperties", True) is not False
        for param in params_of(schema)
    )


def _behaviour(definition: Definition) -> Iterator[Finding]:
    if definition.cache is not None and not definition.idempotent:
        yield found("cache_not_idempotent", "cache")
    if definition.retry is not None and definition.retry.max_retries > 0 and not definition.idempotent:
        yield found("retry_not_idempotent", "retry")
    if definition.successor and definition.successor in {definition.name, own_name(definition.name)}:
        yield found("successor_itself", "successor")


def _clear_secrets(config: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Name the members of a config that sound like secrets and hold a text instead of a reference."""
    for name, value in config.items():
        here = f"{path}.{name}" if path else str(name)
        if isinstance(value, Mapping):
            if _REFERENCE not in value:
                yield from _clear_secrets(value, here)
        elif isinstance(value, str) and value and is_secret_name(str(name)) and not value.startswith("${"):
            yield here
