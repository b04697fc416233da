"""A tool with settings, one of them secret."""

import hashlib
from typing import Any

from openclaw_admin.tools import BaseTool


class BookRoomTool(BaseTool):
    """Book a meeting room and give its door code."""

    permissions = ("rooms:book",)
    idempotent = True

    def execute(self, room: str, hour: int) -> dict[str, Any]:
        """Book a room.

        Args:
            room: name of the room.
            hour: from 0 to 23.
        """
        if room not in self.config["rooms"]:
            return {"booked": False, "reason": f"there is no room {room}: choose of {', '.join(self.config['rooms'])}"}
        seal = f"{self.config['door_key']} {room} {hour}".encode()
        return {"booked": True, "room": room, "hour": hour, "door_code": hashlib.sha256(seal).hexdigest()[:6]}
