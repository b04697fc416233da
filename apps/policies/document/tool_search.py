"""The shape of `tools.toolSearch`. It is kept as it is; the runtime brings its numbers into their ranges."""

from typing import Any

from django.utils.translation import gettext as _

from apps.firewall.tools.search.settings import CHOSEN_MODES, MAX_LIMIT, RANGES
from apps.policies.document.findings import Findings, Path
from apps.policies.document.shapes import Shape, flag, object_with, word, wrong_type


def tool_search(value: Any, path: Path, findings: Findings) -> bool:
    if isinstance(value, bool):
        return True
    if not isinstance(value, dict):
        return wrong_type(value, _("true, false or an object"), path, findings)
    is_good = _block(value, path, findings)
    most, default = (value.get(key, MAX_LIMIT) for key in ("maxSearchLimit", "searchDefaultLimit"))
    if is_good and "searchDefaultLimit" in value and default > most:
        message = _("lies above `maxSearchLimit`, %(most)s, and is brought to it") % {"most": most}
        findings.warning((*path, "searchDefaultLimit"), "out_of_range", message)
    return is_good


def _number(lowest: int, highest: int) -> Shape:
    """A whole number that is brought into its range when it lies outside."""

    def check(value: Any, path: Path, findings: Findings) -> bool:
        if not isinstance(value, int) or isinstance(value, bool):
            return wrong_type(value, _("a whole number"), path, findings)
        if not lowest <= value <= highest:
            message = _("lies outside of %(lowest)s to %(highest)s and is brought to its nearest end") % {
                "lowest": lowest,
                "highest": highest,
            }
            findings.warning(path, "out_of_range", message)
        return True

    return check


_block = object_with(
    enabled=flag, mode=word(*CHOSEN_MODES), **{name: _number(*limits) for name, limits in RANGES.items()}
)
