"""Who may see a run."""

from uuid import UUID

from apps.accounts.access import Permission, Principal, may, may_agent, may_environment
from apps.runs.errors import RunNotFoundError
from apps.runs.models import ToolRun


def run_access(principal: Principal, run_id: UUID) -> ToolRun:
    """Give a run to who may read the ledger of its environment and agent.

    Raises:
        RunNotFoundError: there is none, or its existence is not this principal's business.
    """
    run = ToolRun.objects.select_related("environment").filter(pk=run_id).first()
    if run is None or not may_environment(principal, run.environment.slug):
        raise RunNotFoundError("no such run")
    if not may(principal, Permission.AUDIT_READ) or not may_agent(principal, run.agent):
        raise RunNotFoundError("no such run")
    return run


def run_of_caller(run_id: UUID, *, actor: str, environment: str, agents: frozenset[str]) -> ToolRun:
    """Give a run to the credential that made it, as long as that may still speak for its agent.

    Args:
        environment: the only one it may act in; empty for any.
        agents: the only ones it may speak for; empty for any.
    Raises:
        RunNotFoundError: there is none, or another credential made it.
    """
    run = ToolRun.objects.select_related("environment").filter(pk=run_id, actor=actor).first()
    if run is None or (environment and run.environment.slug != environment) or (agents and run.agent not in agents):
        raise RunNotFoundError("no such run")
    return run
