"""How a run begins and is found again, whichever way its agent came."""

from apps.accounts.access import Permission
from apps.firewall.engine.subjects import kept_name
from apps.firewall.identifiers import read_id
from apps.gateway.database import in_database
from apps.gateway.runtime_api.reading import require
from apps.gateway.runtime_api.speaking import Speaker
from apps.gateway.tokens import TokenGrant
from apps.gateway.tool_runs.reading import Wishes
from apps.registry.models import Environment
from apps.registry.selectors import environment_find
from apps.runs.access import run_of_caller
from apps.runs.errors import RunEndedError, RunNotFoundError
from apps.runs.models import ToolRun
from apps.runs.services import Beginning
from apps.texts import check_value


def beginning_of(grant: TokenGrant, speaker: Speaker, wishes: Wishes) -> Beginning:
    """Say what a caller says of its run.

    Raises:
        TextRefusedError: it holds a text that cannot be stored.
    """
    context = speaker.caller.context
    check_value(
        {
            "agent": speaker.caller.agent,
            "provider": speaker.provider,
            "model": speaker.model,
            "context": context.to_json(),
            "tools": list(wishes.client_tools),
            "required": list(wishes.required),
            "task": wishes.task,
        }
    )
    return Beginning(
        agent=speaker.caller.agent,
        session_key=context.session_key or "",
        channel=kept_name("channel", context.channel or ""),
        sender=context.sender_id or context.sender_username or context.sender_e164 or context.sender_name or "",
        actor=grant.actor,
        context=context.to_json(),
        provider=speaker.provider,
        model=speaker.model,
        form=speaker.form.KEY,
        client_tools=wishes.client_tools,
        required=wishes.required,
        task=wishes.task,
        only_runnable=wishes.only_runnable,
        takes_code=wishes.takes_code,
    )


def environment_read(slug: str) -> Environment:
    """Give the row of an environment that a request was read against."""
    found = environment_find(slug)
    assert found is not None  # noqa: S101 - the request was read against those that exist
    return found


async def run_of(grant: TokenGrant, identifier: str) -> ToolRun:
    """Give a run to the credential that made it.

    Raises:
        PermissionDeniedError: it may make no calls.
        RunNotFoundError: there is none, or another credential made it.
    """
    require(grant, Permission.CALLS_MAKE)
    try:
        run_id = read_id("trun", identifier)
    except ValueError:
        raise RunNotFoundError("no such run") from None
    return await in_database(
        run_of_caller, run_id, actor=grant.actor, environment=grant.environment, agents=grant.agents
    )


def check_open(run: ToolRun) -> None:
    """Let through a run in which more may be searched and called.

    Raises:
        RunEndedError: it has ended.
    """
    if not run.is_open:
        raise RunEndedError("the run has ended")
