"""What pages show of a changed definition: in a sentence, place by place, line by line."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.console.changes import Line
from apps.console.schema_diff import diff_of, lines_compared
from apps.registry.models import DriftState, OnDrift
from apps.registry.selectors import code_changes, drift_changes, drifts_of

if TYPE_CHECKING:
    from apps.registry.differences import Difference
    from apps.registry.models import DefinitionDrift, Tool
    from apps.registry.selectors import CodeChange

PARAMS: Final = "parameters.properties."
CODE: Final = "code."
CODE_DIGEST: Final = "executor.code"
EARLIER_SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class DriftShown:
    """One changed definition.

    Attributes:
        summary: what changed, for people.
        description: the text a model is told, line by line; empty when it did not change.
        parameters: the schema, line by line; empty when it did not change.
        others: every other member that changed, with both values.
        code: each file of its code that changed, line by line.
    """

    summary: list[str]
    description: list[Line]
    parameters: list[Line]
    others: list[Line]
    code: list[tuple[str, list[Line]]]


def drift_shown(drift: "DefinitionDrift") -> DriftShown:
    """Lay out what a source changed."""
    before, after = drift.pinned, drift.found
    apart = {"description", "parameters", "name"}
    rest = [{name: value for name, value in side.items() if name not in apart} for side in (before, after)]
    old, new = (str(side.get("description", "")) for side in (before, after))
    return DriftShown(
        summary=summary_of(drift),
        description=lines_compared(old.splitlines(), new.splitlines()) if old != new else [],
        parameters=_differing(before.get("parameters"), after.get("parameters")),
        others=_differing(rest[0], rest[1]),
        code=[(each.path, _lines(each)) for each in code_changes(drift)],
    )


def _lines(change: "CodeChange") -> list[Line]:
    return lines_compared((change.before or "").splitlines(), (change.after or "").splitlines())


def _differing(before: Any, after: Any) -> list[Line]:
    return [] if before == after else diff_of(before, after)


def summary_of(drift: "DefinitionDrift") -> list[str]:
    """Say in short sentences what changed."""
    changes = drift_changes(drift)
    said = []
    for kind, one in (("added", _new), ("removed", _gone), ("changed", _other)):
        names = _params(changes, kind)
        if names:
            said.append(one(names))
    files = [each.path.removeprefix(CODE) for each in changes if each.path.startswith(CODE)]
    if files:
        words = ngettext("Changed code: %(names)s.", "Changed code: %(names)s.", len(files))
        said.append(words % {"names": ", ".join(files)})
    changes = tuple(each for each in changes if not each.path.startswith(CODE) and each.path != CODE_DIGEST)
    members = sorted({each.path.partition(".")[0].partition("[")[0] for each in changes} - {"parameters"})
    if "description" in members:
        said.append(_("Changed description."))
    if "executor" in members:
        said.append(_("Something else runs it."))
    others = [name for name in members if name not in {"description", "executor"}]
    if others:
        said.append(_("Also changed: %(names)s.") % {"names": ", ".join(others)})
    return said or [_("Changed schema.")]


def _params(changes: "tuple[Difference, ...]", kind: str) -> list[str]:
    names: dict[str, None] = {}
    for each in changes:
        name, _dot, rest = each.path.removeprefix(PARAMS).partition(".")
        if each.path.startswith(PARAMS) and (each.kind if not rest else "changed") == kind:
            names[name] = None
    return list(names)


def _new(names: list[str]) -> str:
    words = ngettext("New parameter %(names)s.", "New parameters %(names)s.", len(names))
    return words % {"names": ", ".join(names)}


def _gone(names: list[str]) -> str:
    words = ngettext("Without parameter %(names)s.", "Without parameters %(names)s.", len(names))
    return words % {"names": ", ".join(names)}


def _other(names: list[str]) -> str:
    words = ngettext("Changed parameter %(names)s.", "Changed parameters %(names)s.", len(names))
    return words % {"names": ", ".join(names)}


def keeps_calls(record: "Tool") -> bool:
    """Say whether calls go on with the accepted definition while a change waits."""
    source = record.discovery_source
    return source is not None and source.on_drift == OnDrift.KEEP


def earlier_of(record: "Tool") -> list[Any]:
    """List the changes of a tool that were decided, the newest first."""
    found = drifts_of(record.environment).filter(tool=record).exclude(state=DriftState.PENDING)
    return list(found[:EARLIER_SHOWN])
