"""Which calls are equal, so that one result may answer them."""

import hashlib
import json
from typing import Final

from apps.firewall.runtime.call import Call
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.running import ToolOutcome

KEPT_BYTES_LIMIT: Final = 262_144


def result_key(call: Call, definition: Definition) -> str | None:
    """Name the result that answers a call: the same for equal calls of one agent to one definition.

    Returns:
        SHA-256 in hex; None for a tool whose results are not kept.
    """
    if definition.cache is None:
        return None
    names = definition.cache.key or sorted(call.params)
    params = [[name, call.params[name]] for name in names if name in call.params]
    parts = [call.environment, call.agent, definition.name, definition.digest, params]
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def may_be_kept(outcome: ToolOutcome) -> bool:
    """Say whether an outcome may answer further calls: it succeeded, and is of a size to keep."""
    if outcome.ended != "completed" or outcome.error is not None or outcome.result is None:
        return False
    return len(json.dumps(outcome.result).encode("utf-8", "surrogatepass")) <= KEPT_BYTES_LIMIT
