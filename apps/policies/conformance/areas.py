"""Every area and kind of vectors that can be checked: who answers, and which members count.

An adapter is a function of this package, named `module:function` and loaded when its area is first asked. It takes the
dialect and a vector's `input`, and returns the answer in the shape of the recording; a `FirewallError` that it raises
is an answer, too: the function failed.
Source: conformance README, table in "Comparison".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from apps.firewall.engine.dialect import Dialect
from apps.policies.conformance.compare import Judge, as_the_hooks_said, at_least_as_strict, loop_events, members

Adapter = Callable[[Dialect, Mapping[str, Any]], Any]
WITHOUT_KIND: Final = ""
DUMP: Final = "dump"
_WHOLE: Final = members()


@dataclass(frozen=True, slots=True)
class Kind:
    """One function of an area, and how its answers are judged."""

    adapter: str
    judge: Judge = _WHOLE

    def load(self) -> Adapter:
        """Return the adapter.

        Raises:
            ImportError, AttributeError: there is none.
        """
        module, _, function = self.adapter.partition(":")
        adapter: Adapter = getattr(import_module(f"{__package__}.{module}"), function)
        return adapter


AREAS: Final[dict[str, dict[str, Kind]]] = {
    "tool_names": {
        "normalize": Kind("tool_names:normalize"),
        "expand_groups": Kind("tool_names:expand"),
        "match": Kind("tool_names:match"),
    },
    "profiles": {"resolve": Kind("tool_names:profile")},
    "pipeline": {
        WITHOUT_KIND: Kind("pipeline:run", members(("allowed", "steps", "warnings", "effective"))),
    },
    "group_policy": {
        "by_sender": Kind("groups:by_sender"),
        "tools": Kind("groups:tools"),
        "session": Kind("groups:caller"),
    },
    "group_policy_channels": {
        "resolve": Kind("groups:resolve"),
        "caller": Kind("groups:caller"),
    },
    "sandbox_policy": {
        "resolve": Kind("sandbox:resolve", members(("allow", "deny", "sources.*.source"), ("sources.*.key",))),
        "message_provider": Kind("sandbox:message_provider"),
    },
    "subagent": {
        "policy": Kind("subagents:policy", members(("policy", "allowed"))),
        "role_deny": Kind("subagents:role"),
    },
    "apply_patch": {
        WITHOUT_KIND: Kind("apply_patch:run", members(("gate", "offered", "workspaceOnly"))),
    },
    "session_key": {
        kind: Kind(
            f"session_key:{kind}", members((), ("agentIdError",)) if kind in ("identity", "agent_of_key") else _WHOLE
        )
        for kind in (
            "identity",
            "agent_of_key",
            "group",
            "trusted_group",
            "thread",
            "depth_store",
            "store_key",
            "agent_id",
            "cron_run",
        )
    },
    "schema": {
        "normalize": Kind("schema:normalize", members(("schema",))),
        "gemini_clean": Kind("schema:gemini_clean", members(("schema",))),
    },
    "params": {
        "execute": Kind("params:execute", members(("params",))),
        "schema_patch_2026_2": Kind("params:schema_patch"),
        "readStringParam": Kind("params:read_string", members(("value",))),
        "readNumberParam": Kind("params:read_number", members(("value",))),
        "readStringArrayParam": Kind("params:read_string_array", members(("value",))),
        "readStringOrNumberParam": Kind("params:read_string_or_number", members(("value",))),
    },
    "exec_approval": {
        "requires_approval": Kind("exec_approval:required"),
        "min_security": Kind("exec_approval:security"),
        "max_ask": Kind("exec_approval:ask"),
        "resolve_file": Kind("exec_files:resolve_file"),
        "safe_bin_argv": Kind("exec_approval:safe_bin"),
        "command": Kind(
            "exec_approval:command",
            members(
                ("analysisOk", "allowlistSatisfied", "approvalNeededOnMiss"),
                ("satisfiedBy", "matchedPatterns", "argv", "reason", "segments", "operators", "trustModes"),
            ),
        ),
    },
    "loop_detection": {
        WITHOUT_KIND: Kind("loop_detection:run", loop_events),
        "config_merge": Kind("loop_detection:config_merge"),
    },
    "shell_bleed": {
        WITHOUT_KIND: Kind("shell_bleed:run", members(("ok", "kind", "token", "line"), ("language", "file"))),
    },
    "hooks": {"before_tool_call": Kind("hooks:before", as_the_hooks_said)},
    "host_env": {
        "validate": Kind("host_env:validate", members(("ok",))),
        "sanitize": Kind("host_env:sanitize", members(("env", "rejectedBlocked", "rejectedInvalid"))),
    },
    "exec_host": {
        "call": Kind("exec_host:call", members(("host", "sandboxed", "security", "ask", "bypassApprovals"))),
        "config": Kind("exec_host:config", members(("host", "security", "ask", "node"))),
        "elevated_sender": Kind("exec_host:elevated_sender", members(("approved",))),
        "elevated_permissions": Kind("exec_host:elevated_permissions", members(("enabled", "allowed"), ("failures",))),
    },
    "redaction": {"text": Kind("redaction:text", at_least_as_strict)},
}
