"""KEEPS a session to its bounds: what is remembered of one, its budgets, and what a call meets in it.

Pure functions over a frozen `SessionState`: `enter` before a call, `leave` after it, `turn_away` when it was refused
elsewhere. Loops are found by `apps.firewall.runtime.loops`. Knows no clock and no store: a record room keeps the state
and hands it to these functions one call at a time.
"""

from apps.firewall.runtime.sessions.naming import SessionName, SessionPlace, name_of, place_of
from apps.firewall.runtime.sessions.outcomes import LoopOutcome, loop_outcome
from apps.firewall.runtime.sessions.rules import Entrance, InSession, SessionCall, Stop, enter, leave, turn_away
from apps.firewall.runtime.sessions.spawns import SPAWN, Spawns, child_of, held_to_parent, spawned_by_call
from apps.firewall.runtime.sessions.state import Budgets, SessionState

__all__ = [
    "SPAWN",
    "Budgets",
    "Entrance",
    "InSession",
    "LoopOutcome",
    "SessionCall",
    "SessionName",
    "SessionPlace",
    "SessionState",
    "Spawns",
    "Stop",
    "child_of",
    "enter",
    "held_to_parent",
    "leave",
    "loop_outcome",
    "name_of",
    "place_of",
    "spawned_by_call",
    "turn_away",
]
