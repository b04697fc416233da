"""Hooks at the command line."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.registry.models import Environment, Hook, HookPolicy
from apps.registry.services import hook_create, plugin_save
from tests.firewall.runtime.hook_runners.packages import installed

pytestmark = pytest.mark.django_db


@pytest.fixture
def gate(environment: Environment, tmp_path: Path) -> Hook:
    place = installed(tmp_path, "def before_tool_call(event): return {'block': event['toolName'] == 'exec'}")
    settings = {"entry_point": place.entry_point, "scan_directories": list(place.folders)}
    plugin = plugin_save(environment, key="acme")
    return hook_create(plugin, name="gate", event="before_tool_call", kind="python_hook", settings=settings)


def said(*words: str) -> str:
    out = StringIO()
    call_command("hooks", *words, stdout=out)
    return out.getvalue()


def test_hooks_are_listed_switched_and_tried(gate: Hook) -> None:
    assert said("list") == "gate\tacme\tbefore_tool_call\tpython_hook\ton\t0 asked, 0 failed\n"
    assert said("off", "gate") == "gate is off\n"
    assert "\toff\t" in said("list")
    assert '"block": true' in said("try", "gate", "--tool", "exec")
    assert said("failures", "gate") == ""


@pytest.mark.parametrize(
    "words", [("try", "nothing"), ("list", "--environment", "no"), ("try", "gate", "--params", "[")]
)
def test_what_is_wrong_is_said(gate: Hook, words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        said(*words)


def test_an_environment_takes_hooks_strictly_or_not(environment: Environment) -> None:
    assert said("lenient") == "production is lenient\n"
    assert HookPolicy.objects.get().is_strict is False
    assert said("strict", "--environment", "production") == "production is strict\n"
    assert HookPolicy.objects.get().is_strict is True
