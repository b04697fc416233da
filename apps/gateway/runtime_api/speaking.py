"""Which model an agent speaks with, read from a request: the provider's form, and the caller in whose name it acts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from apps.firewall.tools.providers import PROVIDERS, Provider, provider_for
from apps.gateway.lifecycle import Gateway
from apps.gateway.runtime_api.reading import Caller, Details, held_caller, read_caller, read_text
from apps.gateway.tokens import TokenGrant

MEMBERS = frozenset({"provider", "model", "form", "agent", "session", "environment"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """An agent that speaks with a model.

    Args:
        provider, model: as the policy knows them; the model is empty when the agent does not say.
    """

    caller: Caller
    form: Provider
    provider: str
    model: str


def read_speaker(grant: TokenGrant, body: Mapping[str, Any], details: Details) -> Speaker | None:
    """Read `provider`, `model`, `form`, `agent`, `session` and `context`; mistakes are added to `details`.

    Provider and model become facts of the context, so that the policy for them holds.

    Raises:
        Problem: 403, the token may not speak for this agent.
    """
    before = len(details)
    provider = read_text(body, "provider", details)
    model = read_text(body, "model", details) if body.get("model") is not None else ""
    caller = read_caller(grant, body, details)
    form = provider_for(provider or "", form=body.get("form") or "") if isinstance(body.get("form", ""), str) else None
    if form is None:
        known = ", ".join(f"`{key}`" for key in PROVIDERS)
        details.append({"path": "form", "code": "invalid", "message": f"`form` must be one of {known}"})
    if caller is not None:
        for name, stated in (("provider", provider), ("model_id", model)):
            held = getattr(caller.context, name)
            if held is not None and held != stated:
                message = f"`context.{name}` differs from what the request names beside it"
                details.append({"path": f"context.{name}", "code": "invalid", "message": message})
    if caller is None or form is None or provider is None or model is None or len(details) > before:
        return None
    context = replace(caller.context, provider=provider, model_id=model or None)
    return Speaker(caller=Caller(caller.agent, context), form=form, provider=provider, model=model)


async def held_speaker(current: Gateway, environment: str, speaker: Speaker) -> Speaker:
    """Hold a speaker to what the session that spawned its own might do.

    Raises:
        SessionsUnavailableError: nobody can tell now.
    """
    return replace(speaker, caller=await held_caller(current, environment, speaker.caller))
