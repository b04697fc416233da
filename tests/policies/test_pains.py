"""Known pains of operators: each document draws its warning beside the field, and sound policies draw none."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from apps.firewall.tools.definition import Definition
from apps.policies.errors import DocumentInvalidError
from apps.policies.kinds import KINDS
from apps.policies.lint.execution import MESSAGES as COMMANDS
from apps.policies.selectors import lint, lint_commands
from apps.policies.services import document_import
from apps.registry.services import plugin_save, tools_import
from tests.policies.sound import sound_policies

FOLDER = Path(__file__).parent / "pains"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expectations.json").read_text())
SOUND = sound_policies()

pytestmark = pytest.mark.django_db


def test_every_pain_has_its_expectation() -> None:
    assert {path.stem for path in FOLDER.glob("*.json5")} == set(EXPECTED)
    assert len(EXPECTED) >= 25


def test_every_code_is_in_the_documented_list() -> None:
    documented = (Path(__file__).parents[2] / "docs" / "policy.md").read_text()
    codes = {item["code"] for expected in EXPECTED.values() for item in expected["findings"]}
    assert [code for code in sorted(codes) if f"`{code}`" not in documented] == []


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_each_pain_is_named_beside_its_field(name: str, environment: Any) -> None:
    expected = EXPECTED[name]
    tools_of(environment, expected)
    found = review(environment, (FOLDER / f"{name}.json5").read_text(), is_refused=expected.get("refused", False))

    assert sorted(found) == sorted((item["path"], item["code"], item["severity"]) for item in expected["findings"])


@pytest.mark.parametrize("name", sorted(name for name, expected in EXPECTED.items() if "refused" not in expected))
def test_each_warning_is_told_in_chinese(name: str, environment: Any) -> None:
    tools_of(environment, EXPECTED[name])
    document_import(environment, (FOLDER / f"{name}.json5").read_text(), by=None)
    english = [finding.message for finding in lint(environment)]

    with translation.override("zh-hans"):
        chinese = [finding.message for finding in lint(environment)]

    assert english and all(any("\u4e00" <= letter <= "\u9fff" for letter in message) for message in chinese)


@pytest.mark.parametrize("name", sorted(name for name, expected in EXPECTED.items() if "refused" not in expected))
def test_commands_of_a_record_by_itself_say_what_the_whole_review_says_of_them(name: str, environment: Any) -> None:
    tools_of(environment, EXPECTED[name])
    document_import(environment, (FOLDER / f"{name}.json5").read_text(), by=None)
    whole = [finding for finding in lint(environment) if finding.code in COMMANDS]
    for model in KINDS.values():
        for record in model._default_manager.filter(environment=environment):
            assert set(lint_commands([record])) == {finding for finding in whole if finding.record == record.pk}


def test_there_are_fifty_sound_policies_of_many_kinds() -> None:
    assert len(SOUND) == 50
    assert len({json.dumps(document, sort_keys=True) for document in SOUND.values()}) == 50


@pytest.mark.parametrize("name", sorted(SOUND))
def test_a_sound_policy_draws_no_remark(name: str, environment: Any) -> None:
    assert review(environment, json.dumps(SOUND[name])) == []


def tools_of(environment: Any, expected: dict[str, Any]) -> None:
    parameters = {"type": "object"}
    for name in expected.get("mcp", ()):
        definition = Definition(name=name, parameters=parameters)
        tools_import(environment, [definition], source="mcp", server_name="tracker", state="active")
    for plugin, names in expected.get("plugin", {}).items():
        definitions = [Definition(name=name, parameters=parameters) for name in names]
        tools_import(
            environment, definitions, source="plugin", plugin=plugin_save(environment, key=plugin), state="active"
        )


def review(environment: Any, text: str, *, is_refused: bool = False) -> list[tuple[str, str, str]]:
    if not is_refused:
        document_import(environment, text, by=None)
        return [(finding.path, finding.code, finding.severity) for finding in lint(environment)]
    with pytest.raises(DocumentInvalidError) as caught:
        document_import(environment, text, by=None)
    return [(detail["path"], detail["code"], "error") for detail in caught.value.details]
