"""What is known of a caller, by the names that context mappings use."""

from typing import Any

from apps.firewall.runtime.call import Call


def known_facts(call: Call) -> dict[str, Any]:
    """Give the facts of a call that are known, by the same names."""
    return {name: fact for name, fact in facts_of(call).items() if fact is not None}


def facts_of(call: Call) -> dict[str, Any]:
    """Give the facts of a call: every name of `injection.FACTS`, None for what is not known.

    A call that is taken up again after its approval has the same facts.
    """
    context = call.context
    return {
        "environment": call.environment,
        "agent.id": call.agent,
        "session.key": context.session_key,
        "channel": context.channel,
        "account.id": context.account_id,
        "group.id": context.group_id,
        "sender.id": context.sender_id,
        "sender.username": context.sender_username,
        "sender.name": context.sender_name,
        "sender.phone": context.sender_e164,
        "sender.is_owner": context.sender_is_owner,
        "provider": context.provider,
        "model": context.model_id,
        "subagent.depth": context.subagent_depth,
        "call.id": str(call.id),
        "trace.id": call.trace_id or None,
    }
