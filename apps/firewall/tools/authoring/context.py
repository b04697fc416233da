"""What a tool is told about the call it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """The surroundings of a tool: a parameter annotated with this class is filled with it and is in no schema.

    Args:
        config: the tool's settings, secrets in clear.
        session: facts about who calls, such as `agent_id`, `session_key`, `channel`, `sender_id`; empty while tools
            are only described.
        sandboxed: whether the session is a sandboxed one.
        call_id: of this call; "" while tools are only described.
        workspace: absolute path of the agent's folder, the one place where files may be written.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    session: Mapping[str, Any] = field(default_factory=dict)
    sandboxed: bool = False
    call_id: str = ""
    workspace: str = ""
