"""Findings of the authoring lint as people read them."""

from typing import Any

import pytest
from django.utils import translation

from apps.firewall.tools.definition_json import read_definition
from apps.registry.findings import tool_findings
from apps.registry.models import ToolSource
from apps.registry.selectors import tool_find
from apps.registry.services import tools_import

pytestmark = pytest.mark.django_db

SLOPPY = read_definition(
    {"name": "weather", "description": "", "parameters": {"type": "object", "properties": {"city": {}}}}
)


@pytest.fixture
def sloppy(environment: Any) -> Any:
    tools_import(environment, [SLOPPY], source=ToolSource.CLIENT)
    return tool_find(environment, "weather")


def test_a_tool_is_judged_the_worst_first(sloppy: Any) -> None:
    findings = tool_findings(sloppy)

    assert [(each.severity, each.code, each.path) for each in findings] == [
        ("error", "description_missing", "description"),
        ("warning", "name_without_action", "name"),
        ("warning", "param_undescribed", "parameters.city"),
        ("warning", "param_untyped", "parameters.city"),
    ]


def test_it_is_said_in_chinese_too(sloppy: Any) -> None:
    with translation.override("zh-hans"):
        messages = {each.code: each.message for each in tool_findings(sloppy)}

    assert messages["param_undescribed"] == "`city` 没有描述"


def test_core_tools_are_not_judged(environment: Any) -> None:
    exec_tool = tool_find(environment, "exec")

    assert exec_tool is not None
    assert tool_findings(exec_tool) == ()
