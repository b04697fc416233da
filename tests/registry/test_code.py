"""Code that its source changes waits in quarantine as a definition does, and is shown file by file."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from apps.console.drifts import drift_shown, summary_of
from apps.firewall.tools.discovery.found import Found
from apps.firewall.tools.executors import PythonExecutor
from apps.registry import selectors, services
from apps.registry.models import DefinitionDrift, DiscoveryRun, DiscoverySource, Environment, Tool
from tests.registry.conftest import found

pytestmark = pytest.mark.django_db
Look = Callable[..., DiscoveryRun]


def written(code: str, **files: str) -> Found:
    """A Python tool whose code has this digest, and these files."""
    executor = PythonExecutor(attribute="tell", file="/t/say_tool.py", folder="/t", code=code)
    return replace(found("say"), executor=executor, code={f"{name}.py": text for name, text in files.items()})


def tool(environment: Environment) -> Tool:
    return Tool.objects.select_related("environment").get(environment=environment, name="say")


def pending(environment: Environment) -> DefinitionDrift:
    drift = selectors.drift_pending(tool(environment))
    assert drift is not None
    return drift


def test_changed_code_is_quarantined_with_a_diff_and_counts_once_it_is_accepted(
    environment: Environment, look: Look, admin: Any
) -> None:
    look(written("a" * 64, say_tool="x = 1\ny = 2\n", part="same\n"))
    look(written("b" * 64, say_tool="x = 1\ny = 3\n", part="same\n", new="import os\n"))

    assert tool(environment).state == "quarantined"
    drift = pending(environment)
    changes = {each.path: (each.kind, each.before, each.after) for each in selectors.drift_changes(drift)}
    assert changes["code.say_tool.py"] == ("changed", "x = 1\ny = 2\n", "x = 1\ny = 3\n")
    assert changes["code.new.py"] == ("added", None, "import os\n")
    assert set(changes) == {"code.say_tool.py", "code.new.py", "executor.code"}
    assert [path for path, _ in drift_shown(drift).code] == ["new.py", "say_tool.py"]
    assert "say_tool.py" in " ".join(summary_of(drift))

    services.drift_accept(drift, by=admin)
    assert (tool(environment).state, tool(environment).executor["code"]) == ("active", "b" * 64)


def test_a_tool_that_was_accepted_before_code_was_pinned_is_pinned_at_the_next_look(
    environment: Environment, look: Look
) -> None:
    look(written(""))
    look(written("a" * 64, say_tool="x\n"))
    assert (tool(environment).state, tool(environment).executor["code"]) == ("active", "a" * 64)

    look(written("b" * 64, say_tool="y\n"))
    assert tool(environment).state == "quarantined"


def test_code_that_can_no_longer_be_read_is_a_change_unless_the_place_is_trusted(
    environment: Environment, source: DiscoverySource, look: Look
) -> None:
    look(written("a" * 64, say_tool="x\n"))
    look(written(""))
    assert tool(environment).state == "quarantined"

    look(written("a" * 64, say_tool="x\n"))
    DiscoverySource.objects.filter(pk=source.pk).update(settings={**source.settings, "trust_code": True})
    source.refresh_from_db()
    look(written(""))
    assert (tool(environment).state, tool(environment).executor.get("code")) == ("active", None)


def test_secrets_in_code_are_masked_where_it_is_shown(environment: Environment, look: Look) -> None:
    look(written("a" * 64, say_tool="x\n"))
    look(written("b" * 64, say_tool="password = 'hunter2hunter2'\n"))
    shown = {each.path: each.after for each in selectors.code_changes(pending(environment))}
    assert "hunter2" not in (shown["say_tool.py"] or "")
