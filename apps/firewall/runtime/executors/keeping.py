"""Who keeps commands that run on when their calls have ended, as runners of commands see it."""

from typing import Protocol

from apps.firewall.runtime.call import Action, Call
from apps.firewall.tools.background.ports import Background, Commands, KeptCommand


class CommandKeeper(Protocol):
    """Keeps commands; `gateway/background` fills it."""

    def background(self, action: Action) -> Background | None:
        """Give the leave of a call to let its command run on; None where it has none."""

    def commands(self, action: Action) -> Commands:
        """Give the kept commands of the session of a call."""

    async def command(self, call: Call, session_id: str) -> KeptCommand | None:
        """Find one of them; None where there is none."""
