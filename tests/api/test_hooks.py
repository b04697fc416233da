"""Hooks by API: added, changed, tried, removed; who may."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.audit.models import Entry
from apps.registry.models import Environment, Hook, Plugin
from apps.registry.services import plugin_save
from tests.firewall.runtime.hook_runners.packages import installed

pytestmark = pytest.mark.django_db
KEY = "a-key-that-both-sides-know"
WEBHOOK = {"url": "https://hooks.example/ask", "signing": {"algorithm": "hmac-sha256", "key": KEY}}
NEW = {"name": "gate", "plugin": "acme", "event": "before_tool_call", "kind": "webhook", "settings": WEBHOOK}


@pytest.fixture
def plugin(environment: Environment) -> Plugin:
    return plugin_save(environment, key="acme")


@pytest.fixture
def everything(program: Callable[..., Any]) -> Any:
    return program("policy_read", "policy_write", "publish")


def test_a_hook_is_added_read_changed_and_removed(plugin: Plugin, everything: Any) -> None:
    made = everything.post("registry/hooks", NEW)
    assert (made.status_code, made.json()["timeout_ms"], made.json()["tally"]["failed"]) == (201, None, 0)
    assert KEY not in made.content.decode()
    assert [each["name"] for each in everything.get("registry/hooks").json()] == ["gate"]

    changed = everything.ask("PATCH", "registry/hooks/gate", {"version": 1, "is_enabled": False, "timeout_ms": 500})
    assert (changed.json()["version"], changed.json()["is_enabled"], changed.json()["timeout_ms"]) == (2, False, 500)
    assert everything.ask("PATCH", "registry/hooks/gate", {"version": 1, "priority": 1}).status_code == 409
    assert everything.get("registry/hooks/gate/failures").json() == []
    assert everything.ask("DELETE", "registry/hooks/gate?version=2").status_code == 204
    assert everything.get("registry/hooks/gate").status_code == 404


def test_a_token_without_the_right_to_publish_only_reads(plugin: Plugin, program: Callable[..., Any]) -> None:
    writer = program("policy_read", "policy_write")
    assert writer.post("registry/hooks", NEW).status_code == 403
    assert writer.get("registry/hooks").status_code == 200
    assert not Hook.objects.exists()


@pytest.mark.parametrize(
    ("changes", "status", "path"),
    [({"plugin": "nobody"}, 422, "plugin"), ({"settings": {}}, 422, "settings.url"), ({"kind": "x"}, 400, "kind")],
)
def test_a_mistake_is_named(plugin: Plugin, everything: Any, changes: Any, status: int, path: str) -> None:
    answer = everything.post("registry/hooks", NEW | changes)
    assert answer.status_code == status
    assert path in {each["path"] for each in answer.json()["details"]}


def test_a_hook_is_tried(plugin: Plugin, everything: Any, tmp_path: Path) -> None:
    place = installed(tmp_path, "def before_tool_call(event): return {'params': {'path': 'b'}}")
    settings = {"entry_point": place.entry_point, "scan_directories": list(place.folders)}
    everything.post("registry/hooks", NEW | {"kind": "python_hook", "settings": settings})

    answer = everything.post("registry/hooks/gate/try", {"tool": "read", "params": {"path": "a"}}).json()
    (tmp_path / "acme_hooks.py").write_text("def before_tool_call(event): return 7")
    wrong = everything.post("registry/hooks/gate/try", {"tool": "read"}).json()

    assert (answer["answer"], answer["failure"]) == ({"params": {"path": "b"}}, None)
    assert wrong["failure"]["kind"] == "wrong_answer"


@pytest.mark.usefixtures("empty_ledger")
def test_an_environment_chooses_how_it_takes_hooks_that_fail(everything: Any, program: Callable[..., Any]) -> None:
    path = "registry/hook-policy"
    assert everything.get(path).json() == {"version": 1, "is_strict": True}
    changed = everything.ask("PATCH", path, {"version": 1, "is_strict": False})
    assert (changed.status_code, changed.json()["is_strict"], changed.json()["version"]) == (200, False, 2)
    assert set(changed.json()) == {"version", "is_strict", "heard_by"}
    assert everything.ask("PATCH", path, {"version": 1, "is_strict": True}).status_code == 409
    assert everything.ask("PATCH", path, {"version": 2}).status_code == 400
    writer = program("policy_read", "policy_write")
    assert writer.ask("PATCH", path, {"version": 2, "is_strict": True}).status_code == 403
    entry = Entry.objects.filter(kind="hook_change", changes__has_key="is_strict").latest("seq")
    assert (entry.environment, (entry.changes or {})["is_strict"]) == ("production", False)
