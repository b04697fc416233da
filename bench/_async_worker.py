"""The worker of `bench.async_calls`: as in production, but for `read`, which does nothing.

Run as `celery --app bench._async_worker worker`: what is measured is everything around the tool.
"""

from celery.signals import worker_process_init

from openclaw_admin.celery import app

__all__ = ["app"]


@worker_process_init.connect
def _do_nothing_for_read(**_: object) -> None:
    from apps.firewall.engine.source import ToolEntry
    from apps.firewall.runtime.call import Action
    from apps.firewall.runtime.executors.dispatch import Executors
    from apps.firewall.tools.running import ToolOutcome

    really = Executors.run

    async def run(self: Executors, action: Action, tool: ToolEntry) -> ToolOutcome:
        return ToolOutcome(result={}) if action.tool == "read" else await really(self, action, tool)

    Executors.run = run  # type: ignore[method-assign]
