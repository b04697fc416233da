"""Real plugins that are asked and told about calls of a running server."""

from pathlib import Path
from typing import Any

import httpx

from apps.gateway.lifecycle import gateway
from apps.registry.models import Hook, Plugin
from apps.registry.services import hook_create
from tests.firewall.runtime.hook_runners.packages import installed
from tests.gateway.conftest import call
from tests.gateway.test_decisions import eventually

CODE = """
import os, time
def before_tool_call(event):
    do = event["params"]["command"].removeprefix("echo ")
    if do == "raise": raise ValueError("ghp_" + "a1B2" * 9)
    if do == "hang": time.sleep(600)
    if do == "wrong": return "block"
    if do == "huge": return {"blockReason": "x" * 5_000_000}
    if do == "end": os._exit(1)
    if do == "block": return {"block": True, "blockReason": "not this"}
    if do == "other": return {"params": {"command": "echo another"}}

def after_tool_call(event):
    before_tool_call(event)
"""


class Hooking:
    """Adds hooks of one plugin, and waits until the server knows each."""

    def __init__(self, plugin: Plugin, folder: Path) -> None:
        self.plugin = plugin
        self._folder = folder

    def __call__(self, code: str = CODE, **changes: Any) -> Hook:
        name = changes.setdefault("name", "hook")
        place = installed(self._folder / name, code)
        settings = {"entry_point": place.entry_point, "scan_directories": list(place.folders)}
        given = {"event": "before_tool_call", "kind": "python_hook", "settings": settings}
        return known(hook_create(self.plugin, **(given | changes)))


def known(hook: Hook) -> Hook:
    assert eventually(lambda: hook.pk in live())
    return hook


def live() -> set[Any]:
    found = gateway().hooks._hooks.get("production")
    return set() if found is None else {each.id for each in found.hooks}


def echo(agent: httpx.Client, word: str, **more: Any) -> Any:
    return call(agent, "exec", {"command": f"echo {word}"}, **more).json()
