"""The gate of apply_patch."""

from typing import Any

import pytest

from apps.firewall.engine.apply_patch import gate_refusal, read_apply_patch, sandbox_refuses
from apps.firewall.engine.dialect import DIALECTS

NEW, OLD = DIALECTS["2026.9"], DIALECTS["2026.2"]


def _settings(**members: Any) -> Any:
    return read_apply_patch({"exec": {"applyPatch": members}}, {})


def test_the_newer_release_opens_unless_switched_off() -> None:
    assert gate_refusal(NEW, _settings(), provider=None, model_id=None) is None
    assert gate_refusal(NEW, _settings(enabled=False), provider="openai", model_id="m") == "enabled"


def test_the_older_release_opens_only_when_switched_on_and_for_its_providers() -> None:
    assert gate_refusal(OLD, _settings(), provider="openai", model_id="m") == "enabled"
    assert gate_refusal(OLD, _settings(enabled=True), provider="anthropic", model_id="m") == "provider"
    assert gate_refusal(OLD, _settings(enabled=True), provider=" OpenAI-Codex ", model_id="m") is None


@pytest.mark.parametrize("odd", [3, None, [], {}])
def test_an_odd_entry_among_the_models_admits_nothing(odd: object) -> None:
    settings = _settings(enabled=True, allowModels=[odd])
    assert gate_refusal(NEW, settings, provider="openai", model_id="m") == "allowModels"
    assert gate_refusal(NEW, settings, provider="openai", model_id="") == "allowModels"


def test_a_model_that_names_a_provider_is_taken_whole() -> None:
    settings = _settings(allowModels=["OpenAI/M"])
    assert gate_refusal(NEW, settings, provider="openai", model_id="m") is None
    assert gate_refusal(NEW, settings, provider="router", model_id="openai/m") is None
    assert gate_refusal(NEW, settings, provider="openai", model_id="router/m") == "allowModels"


def test_an_agents_block_replaces_the_global_one_whole() -> None:
    common = {"exec": {"applyPatch": {"enabled": False, "workspaceOnly": False}}, "fs": {"workspaceOnly": False}}
    assert read_apply_patch(common, {"exec": {"applyPatch": {}}}).enabled is None
    assert read_apply_patch(common, {"exec": {"applyPatch": {}}}).workspace_only
    assert read_apply_patch(common, {"exec": {"applyPatch": None}}).enabled is False
    assert not read_apply_patch(common, {}).workspace_only
    assert read_apply_patch(common, {"fs": {"workspaceOnly": True}}).workspace_only


@pytest.mark.parametrize("tools", [{}, {"exec": 3}, {"exec": {"applyPatch": "yes"}}, {"fs": []}])
def test_odd_settings_leave_the_defaults(tools: dict[str, Any]) -> None:
    settings = read_apply_patch(tools, {})
    assert (settings.enabled, settings.models, settings.workspace_only) == (None, None, True)


def test_only_a_read_only_workspace_refuses() -> None:
    assert [sandbox_refuses(access) for access in ("ro", "rw", "none", None)] == [True, False, False, False]
