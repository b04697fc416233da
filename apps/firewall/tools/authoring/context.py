"""What a tool is told about the call it answers."""

from collections.abc import Callable, Mapping
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
        report: what carries news to whoever waits; call `progress` instead.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    session: Mapping[str, Any] = field(default_factory=dict)
    sandboxed: bool = False
    call_id: str = ""
    workspace: str = ""
    report: Callable[[str, float | None, float | None], None] | None = field(default=None, repr=False, compare=False)

    def progress(self, message: str = "", *, done: float | None = None, total: float | None = None) -> None:
        """Tell whoever waits how far the call has come; of many in a short time the last ones may be passed over.

        Args:
            message: a sentence for people; it is masked like a result.
            done, total: in whatever unit the tool counts.
        """
        if self.report is not None:
            self.report(message, done, total)
