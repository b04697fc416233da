"""What params must pass: once as the agent sent them, and once more as before-hooks rewrote them."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from apps.firewall.runtime.stages.content import content_stage
from apps.firewall.runtime.stages.host_env import host_env_stage
from apps.firewall.runtime.stages.limits import size_check
from apps.firewall.runtime.stages.permissions import permissions_stage
from apps.firewall.runtime.stages.run import Run
from apps.firewall.runtime.stages.validate import validate_stage

CHECKS: tuple[Callable[[Run], Awaitable[None]], ...] = (
    validate_stage,
    host_env_stage,
    permissions_stage,
    content_stage,
    size_check,
)
"""Everything that judges params, in the order of the table of stages."""


async def check_again_stage(run: Run) -> None:
    """Take what hooks made of the params, and judge it as if an agent had sent it.

    Raises:
        RewriteLostError: it is not there any more; the call must not run with the params from before.
    """
    if not run.is_rewritten:
        return
    run.call = replace(run.call, params=run.ports.hooks.rewrites.take(str(run.call.id)))
    for check in CHECKS:
        await check(run)
