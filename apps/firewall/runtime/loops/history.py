"""The calls of a session and how they ended: a bounded, frozen list that goes to JSON and back."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, get_args

from apps.firewall.engine.names import trim
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.loops.fingerprints import digest
from apps.firewall.runtime.loops.outcomes import Outcome, OutcomeKind
from apps.firewall.runtime.loops.rules import WARNING_KEYS_KEPT, LoopSettings

FORMAT: Final = 1


class LoopHistoryInvalidError(FirewallError):
    """A stored history cannot be read."""

    code = "loop_history_invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopCall:
    """A call, as the detectors see it.

    Args:
        params: any JSON.
        run_id: the turn or run it belongs to; blank for none.
        call_id: tells calls of the same tool and params apart when they end.
    """

    tool: str
    params: Any
    run_id: str = ""
    call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One call in the history; the members after `call_id` are those of its outcome."""

    tool: str
    signature: str
    run_id: str = ""
    call_id: str = ""
    equal: str = ""
    kind: OutcomeKind = ""
    failure: str = ""
    stuck: bool = False
    unknown_tool: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the call has no outcome yet."""
        return not self.equal and not self.kind


@dataclass(frozen=True, slots=True)
class LoopHistory:
    """What is remembered of a session.

    Args:
        records: oldest first.
        warned: pairs of a warning's key and the bucket it was last told in, oldest key first.
    """

    records: tuple[Record, ...] = ()
    warned: tuple[tuple[str, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the history as JSON; members that say nothing are left out."""
        return {
            "format": FORMAT,
            "records": [_record_json(record) for record in self.records],
            "warned": [list(pair) for pair in self.warned],
        }

    @classmethod
    def from_json(cls, document: Any) -> "LoopHistory":
        """Read what `to_json` wrote.

        Raises:
            LoopHistoryInvalidError: it is something else.
        """
        try:
            if document["format"] != FORMAT:
                raise LoopHistoryInvalidError(f"a history of format `{document['format']}` is not known")
            records = tuple(_read_record(each) for each in document["records"])
            warned = tuple((_typed(key, str), _typed(bucket, int)) for key, bucket in document["warned"])
        except (KeyError, TypeError, ValueError) as exc:
            raise LoopHistoryInvalidError("the history cannot be read") from exc
        return cls(records, warned)


_MEMBERS: Final[Mapping[str, type]] = {
    each.name: type(each.default) if isinstance(each.default, str | bool) else str for each in fields(Record)
}


def _record_json(record: Record) -> dict[str, Any]:
    return {name: value for name in _MEMBERS if (value := getattr(record, name))}


def _read_record(given: Any) -> Record:
    members = {name: _typed(value, _MEMBERS[name]) for name, value in _typed(given, dict).items()}
    if members.get("kind", "") not in get_args(OutcomeKind):
        raise LoopHistoryInvalidError(f"an outcome of kind `{members['kind']}` is not known")
    return Record(**members)


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise LoopHistoryInvalidError("the history cannot be read")
    return value


def record_of(settings: LoopSettings, call: LoopCall) -> Record:
    """Return the record of a call without an outcome.

    Raises:
        NotComparableError: its params are no JSON.
    """
    signature = digest([call.tool, call.params], settings.key)
    return Record(tool=call.tool, signature=signature, run_id=trim(call.run_id), call_id=call.call_id)


def with_call(settings: LoopSettings, history: LoopHistory, call: LoopCall) -> LoopHistory:
    """Add a call that is about to run.

    Raises:
        NotComparableError: its params are no JSON.
    """
    return _bounded(settings, history, (*history.records, record_of(settings, call)))


def with_outcome(settings: LoopSettings, history: LoopHistory, call: LoopCall, outcome: Outcome) -> LoopHistory:
    """Add how a call ended: to its own record, or as one more when that is not there any more.

    Raises:
        NotComparableError: its params are no JSON.
    """
    if not outcome.equal and not outcome.kind:
        return history
    wanted = record_of(settings, call)
    ended = {each.name: getattr(outcome, each.name) for each in fields(Outcome)}
    records = list(history.records)
    for at in range(len(records) - 1, -1, -1):
        if records[at].is_open and _is_of(records[at], wanted):
            records[at] = replace(records[at], **ended)
            break
    else:
        records.append(replace(wanted, **ended))
    return _bounded(settings, history, tuple(records))


def _is_of(record: Record, wanted: Record) -> bool:
    if wanted.call_id and record.call_id != wanted.call_id:
        return False
    return (record.run_id, record.tool, record.signature) == (wanted.run_id, wanted.tool, wanted.signature)


def _bounded(settings: LoopSettings, history: LoopHistory, records: tuple[Record, ...]) -> LoopHistory:
    return replace(history, records=records[-settings.history_size :])


def with_warning(history: LoopHistory, key: str, bucket: int) -> LoopHistory:
    """Remember that a warning was told; a key keeps its place, the oldest ones are forgotten beyond the limit."""
    warned = {**dict(history.warned), key: bucket}
    return replace(history, warned=tuple(warned.items())[-WARNING_KEYS_KEPT:])
