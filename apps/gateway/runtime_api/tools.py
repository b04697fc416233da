"""`GET /api/v1/tools`: the tools that a context may use, ready to be sent to its model."""

from typing import Any

from apps.accounts.access import Permission
from apps.firewall.engine.decide import allowed_tools
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.runtime.call import NOT_FOUND
from apps.firewall.tools.model_calls import ToolChoice
from apps.gateway.counters import counters
from apps.gateway.lifecycle import Gateway
from apps.gateway.listings import Listing
from apps.gateway.runtime_api.http import Problem, Request, mistakes
from apps.gateway.runtime_api.reading import Details, environment_of, read_query, require
from apps.gateway.runtime_api.speaking import MEMBERS, Speaker, held_speaker, read_speaker
from apps.gateway.tokens import TokenGrant

QUERY = MEMBERS | {"tool_choice", "runnable"}
MODES = ("auto", "none", "required")
TRUTHS = {"true": True, "false": False}


async def offer(current: Gateway, grant: TokenGrant, request: Request, _: str) -> tuple[int, Any]:
    """Answer with the members of a provider's request that offer the tools which its context may use now."""
    require(grant, Permission.DECISIONS_ASK)
    details: Details = []
    body = read_query(request.scope["query_string"], QUERY, details)
    environment = environment_of(current, grant, body)
    speaker = read_speaker(grant, body, details)
    only_runnable = TRUTHS.get(body.get("runnable", "false"))
    if only_runnable is None:
        details.append({"path": "runnable", "code": "invalid", "message": "`runnable` must be true or false"})
    if speaker is None or details:
        raise mistakes(details)
    speaker = await held_speaker(current, environment, speaker)
    counters.add("listings")
    snapshot = current.snapshots.live(environment)
    listing = None
    if snapshot is not None:
        listing = await current.listings.get(
            snapshot,
            _names(current, environment, snapshot, speaker),
            speaker.form,
            provider=speaker.provider,
            model=speaker.model,
            is_wanted=current.desk.runs if only_runnable else None,
        )
    return 200, _answer(snapshot, listing, speaker, body.get("tool_choice", "auto"))


def _names(current: Gateway, environment: str, snapshot: Snapshot, speaker: Speaker) -> tuple[str, ...]:
    names = allowed_tools(snapshot, speaker.caller.context)
    withdrawn = current.tool_states.withdrawn(environment)
    return tuple(name for name in names if name not in withdrawn) if withdrawn else names


def _answer(snapshot: Snapshot | None, listing: Listing | None, speaker: Speaker, wanted: str) -> dict[str, Any]:
    form = speaker.form
    choice = _choice(snapshot, listing, wanted)
    # A provider refuses an empty list of tools, and a choice among none.
    has_tools = listing is not None and bool(listing.wire_names)
    return {
        "provider": speaker.provider,
        "form": form.KEY,
        "model": speaker.model or None,
        "snapshot": None if snapshot is None else snapshot.digest,
        "request": form.request_json(listing.fragment, choice) if has_tools and listing is not None else {},
        "renamed": {} if listing is None else listing.renamed,
        "left_out": [] if listing is None else listing.left_out,
        "warnings": _warnings(snapshot, listing, speaker),
    }


def _choice(snapshot: Snapshot | None, listing: Listing | None, wanted: str) -> ToolChoice:
    """Read `tool_choice`: a mode, or the one tool that must be called; one outside the set does not exist."""
    offered = {} if listing is None else listing.wire_names
    if wanted == "required" and not offered:
        raise Problem(422, "no_tools", "there is no tool that could be required")
    if wanted in MODES:
        return ToolChoice(wanted)  # type: ignore[arg-type]  # one of the modes
    entry = None if snapshot is None else snapshot.tool(wanted)
    wire = None if entry is None else offered.get(entry.name)
    if wire is None:
        raise Problem(404, NOT_FOUND, f"no tool named `{wanted}`")
    return ToolChoice("one", wire)


def _warnings(snapshot: Snapshot | None, listing: Listing | None, speaker: Speaker) -> list[dict[str, str]]:
    if snapshot is None or listing is None:
        return [{"code": "no_publication", "message": "nothing was published for this environment"}]
    limit, count = speaker.form.TOOLS_LIMIT, len(listing.wire_names)
    if limit is None or count <= limit:
        return []
    return [{"code": "too_many_tools", "message": f"{speaker.form.LABEL} takes {limit} tools, these are {count}"}]
