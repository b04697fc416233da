"""The gate of `apply_patch`: a switch, a list of models and the sandbox decide before any layer does.

Source: conformance README, `apply_patch.jsonl`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import fold

READ_ONLY = "ro"


@dataclass(frozen=True, slots=True)
class ApplyPatchSettings:
    """`tools.exec.applyPatch` as it holds for one agent.

    Attributes:
        enabled: None when the member is absent.
        models: normal names of the models that may use it; None or empty for every model.
        workspace_only: whether its paths are confined to the workspace.
    """

    enabled: bool | None = None
    models: tuple[str, ...] | None = None
    workspace_only: bool = True


def read_apply_patch(common: Mapping[str, Any], agent: Mapping[str, Any]) -> ApplyPatchSettings:
    """Read the settings of one agent: its `applyPatch` replaces the global one as a whole, `fs.workspaceOnly` too.

    Args:
        common: the global `tools` block.
        agent: the agent's `tools` block, empty for an unknown agent.
    """
    own = _member(agent, "exec", "applyPatch")
    block = own if own is not None else _member(common, "exec", "applyPatch")
    block = block if isinstance(block, Mapping) else {}
    confined = _member(agent, "fs", "workspaceOnly")
    confined = confined if confined is not None else _member(common, "fs", "workspaceOnly")
    enabled, models = block.get("enabled"), block.get("allowModels")
    return ApplyPatchSettings(
        enabled=enabled if isinstance(enabled, bool) else None,
        models=tuple(fold(each) if isinstance(each, str) else "" for each in models)
        if isinstance(models, list)
        else None,
        workspace_only=confined is True or block.get("workspaceOnly") is not False,
    )


def _member(tools: Mapping[str, Any], block: str, member: str) -> Any:
    inner = tools.get(block)
    return inner.get(member) if isinstance(inner, Mapping) else None


def gate_refusal(
    dialect: Dialect, settings: ApplyPatchSettings, *, provider: str | None, model_id: str | None
) -> str | None:
    """Return the member that closes the gate for a model, None when it is open.

    Returns:
        `enabled`, `provider`, `allowModels` or None.
    """
    if settings.enabled is False or (dialect.apply_patch_opt_in and settings.enabled is not True):
        return "enabled"
    if dialect.apply_patch_opt_in and fold(provider or "") not in dialect.apply_patch_providers:
        return "provider"
    if settings.models and not _lists_model(settings.models, fold(provider or ""), fold(model_id or "")):
        return "allowModels"
    return None


def _lists_model(models: tuple[str, ...], provider: str, model: str) -> bool:
    """Say whether a model is listed by its own name or, unless that holds a provider already, by provider and name."""
    if not model:
        return False
    return model in models or (bool(provider) and "/" not in model and f"{provider}/{model}" in models)


def sandbox_refuses(workspace_access: str | None) -> bool:
    """Say whether a sandbox's workspace may only be read; None = no sandbox."""
    return workspace_access == READ_ONLY
