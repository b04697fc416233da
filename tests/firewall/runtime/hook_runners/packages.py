"""Packages that tests install into a folder of their own, and workers that may read it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import dedent

from apps.firewall.runtime.hook_runners.workers import HookWorkers, PluginPlace
from apps.firewall.tools.python_tools import PythonTools


def installed(folder: Path, code: str, *, name: str = "acme-hooks", attribute: str = "") -> PluginPlace:
    """Lay a package into a folder as `pip install --target` does; its entry point is named `hooks`."""
    module = name.replace("-", "_")
    facts = folder / f"{module}-1.0.dist-info"
    facts.mkdir(parents=True, exist_ok=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    target = f"{module}:{attribute}" if attribute else module
    (facts / "entry_points.txt").write_text(f"[openclaw_admin.hooks]\nhooks = {target}\n")
    (folder / f"{module}.py").write_text(dedent(code))
    return PluginPlace(entry_point=f"{name}:hooks", folders=(str(folder),))


@asynccontextmanager
async def workers(*closed: Path, idle_s: float = 60.0) -> AsyncIterator[HookWorkers]:
    made = HookWorkers(PythonTools(closed=closed), idle_s=idle_s)
    try:
        yield made
    finally:
        await made.close()
