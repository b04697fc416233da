"""The setting `config`: a JSON object for an author's code. What looks like a secret is sealed apart, by its place."""

import json
from collections.abc import Mapping
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.firewall.redaction.names import is_secret_name
from apps.firewall.tools.connections import SECRET, Problem

LIMIT_LETTERS: Final = 64_000


def is_reference(value: Any) -> bool:
    """Say whether a value stands for a secret: `{"$secret": "name"}`."""
    return isinstance(value, Mapping) and len(value) == 1 and isinstance(value.get(SECRET), str)


def sealed_config(value: Any, place: str, kept: dict[str, str]) -> Any:
    """Copy a config with references in place of the texts whose names say that they are secret.

    Args:
        kept: texts by name; those that are sealed apart are added, by their place (`config.mail.password`).
    """
    if isinstance(value, list):
        return [sealed_config(each, f"{place}.{at}", kept) for at, each in enumerate(value)]
    if not isinstance(value, Mapping) or is_reference(value):
        return value
    sealed: dict[str, Any] = {}
    for name, each in value.items():
        inner = f"{place}.{name}"
        if isinstance(each, str) and each and is_secret_name(str(name)):
            kept[inner] = each
            sealed[name] = {SECRET: inner}
        else:
            sealed[name] = sealed_config(each, inner, kept)
    return sealed


def config_problems(value: Any, path: str) -> list[Problem]:
    """Say what is wrong with a config."""
    if not isinstance(value, Mapping):
        return [{"path": path, "code": "bad_type", "message": _("must be an object")}]
    try:
        letters = len(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return [{"path": path, "code": "bad_type", "message": _("must be JSON")}]
    if letters > LIMIT_LETTERS:
        message = _("may have at most %(limit)s letters as JSON") % {"limit": LIMIT_LETTERS}
        return [{"path": path, "code": "too_large", "message": message}]
    return []
