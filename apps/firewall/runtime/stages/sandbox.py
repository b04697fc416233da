"""Whether a tool can have the sandbox and the space that it needs, and what its scripts look like before they run."""

import asyncio

from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.stages.command_lists import takes_command
from apps.firewall.runtime.stages.run import Run
from apps.firewall.sandbox.space import SpaceRefusedError
from apps.firewall.shell.bleed import FolderScripts, Preflight, Unread, preflight
from apps.firewall.tools.authoring.errors import CodeChangedError
from apps.firewall.tools.sandboxing import SandboxRefusedError

LAYER = "sandbox"
PREFLIGHT = "preflight"
UNREAD_SAID = {Unread.TOO_LARGE, Unread.UNREADABLE}


async def sandbox_stage(run: Run) -> None:
    """Refuse what could not run as strictly held as it has to be, and scripts that were not meant so."""
    assert run.tool is not None  # noqa: S101 - the stage before
    if run.call.host is not None:
        return  # what holds it is the other machine's matter, and its files cannot be read
    if not run.ports.executor.runs(run.tool):
        return  # the next stage says so
    check_sandbox(run, run.tool)
    await check_space(run, run.tool)
    if takes_command(run.tool):
        await check_scripts(run, run.ports.executor.workdir(run.call, run.call.params))


def check_sandbox(run: Run, tool: ToolEntry) -> None:
    """Refuse a tool whose needs this machine or an admin does not meet."""
    try:
        run.ports.executor.check(tool)
    except (SandboxRefusedError, CodeChangedError) as exc:
        layer = LAYER if isinstance(exc, SandboxRefusedError) else "code"
        raise run.refuse(exc.code, f"the tool `{tool.name}` does not run: {exc.message}", layer=layer) from exc


async def check_space(run: Run, tool: ToolEntry) -> None:
    """Refuse what may write where there is no room for it."""
    try:
        await run.ports.executor.check_space(run.call, tool)
    except SpaceRefusedError as exc:
        raise run.refuse(exc.code, f"the tool `{tool.name}` does not run: {exc.message}", layer=LAYER) from exc


async def check_scripts(run: Run, cwd: str) -> None:
    """Refuse a command whose script is mixed up with a shell's language; say which scripts nobody looked into."""
    assert run.snapshot is not None  # noqa: S101 - the stage before
    # In a thread: reading files must not hold up other calls.
    found: Preflight = await asyncio.to_thread(
        preflight, dialect_named(run.snapshot.dialect), run.call.params["command"], FolderScripts(cwd)
    )
    if found.bleed is not None:
        raise run.refuse("shell_bleed", found.bleed.message, layer=PREFLIGHT, rule=found.bleed.kind)
    for path, why in found.unread:
        if why in UNREAD_SAID:
            message = f"nobody looked into `{path}` before it ran: {why.value}"
            run.warnings.append({"path": "command", "code": "script_not_read", "message": message})
