"""Adapter of the area `host_env`."""

from collections.abc import Mapping
from typing import Any

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.host_env import host_env_rules, sanitize_env, validate_env


def validate(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `validate`."""
    validate_env(dialect, given["env"])
    return {"ok": True}


def sanitize(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `sanitize`; the older release reports the environment only."""
    result = sanitize_env(dialect, given["baseEnv"], given["overrides"])
    answer: dict[str, Any] = {"env": dict(result.env)}
    if host_env_rules(dialect).odd_names_refused:
        answer |= {"rejectedBlocked": list(result.rejected_blocked), "rejectedInvalid": list(result.rejected_invalid)}
    return answer
