"""NOTICES calls that lead nowhere: a session's history of calls and outcomes, and the detectors that read it.

Pure functions over a frozen history that goes to JSON and back: `admit` before a call, `record_result` or
`record_error` after it. `rules` is the table of what the dialects do differently. Knows no clock and no store, and
keeps no params: a history holds digests only.
"""

from apps.firewall.runtime.loops.admission import Admission, admit, check, record_error, record_result
from apps.firewall.runtime.loops.detectors import Finding
from apps.firewall.runtime.loops.fingerprints import NotComparableError
from apps.firewall.runtime.loops.history import LoopCall, LoopHistory, LoopHistoryInvalidError
from apps.firewall.runtime.loops.rules import LoopSettings, loop_settings, merged_loop_config

__all__ = [
    "Admission",
    "Finding",
    "LoopCall",
    "LoopHistory",
    "LoopHistoryInvalidError",
    "LoopSettings",
    "NotComparableError",
    "admit",
    "check",
    "loop_settings",
    "merged_loop_config",
    "record_error",
    "record_result",
]
