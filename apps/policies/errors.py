"""What policies refuse."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from apps.firewall.errors import FirewallError


class PolicyError(FirewallError):
    """Anything this room refuses; `details` holds one mistake each: `path`, `code`, `message`."""

    code = "policy_error"

    def __init__(self, message: str, details: Sequence[Mapping[str, str]] = ()) -> None:
        super().__init__(message)
        self.details: list[dict[str, str]] = [dict(detail) for detail in details]


class DocumentInvalidError(PolicyError):
    """A document has mistakes; `details` names each of them with its path. Nothing was changed."""

    code = "document_invalid"


class DraftNotEmptyError(PolicyError):
    """The draft holds agents, and what was wanted begins with an empty one."""

    code = "draft_not_empty"


class RecordInvalidError(PolicyError):
    """A record would not be valid; the paths in `details` are field names."""

    code = "record_invalid"


class RecordGoneError(PolicyError):
    """The record does not exist, or no longer."""

    code = "not_found"


@dataclass(frozen=True, slots=True)
class Sides:
    """One field of which two people had different ideas; `base` is what the second one had seen, when known."""

    base: Any
    theirs: Any
    yours: Any


class ConflictError(PolicyError):
    """Someone changed the record since it was read.

    Attributes:
        current: the record as it is now.
        fields: what differs between the stored record and the wanted one.
    """

    code = "conflict"

    def __init__(self, message: str, current: Any, fields: Mapping[str, Sides]) -> None:
        super().__init__(
            message,
            [
                {
                    "path": name,
                    "code": "changed",
                    "message": _("now %(theirs)r, wanted %(yours)r") % {"theirs": sides.theirs, "yours": sides.yours},
                }
                for name, sides in fields.items()
            ],
        )
        self.current = current
        self.fields = dict(fields)


class BulkEditInvalidError(PolicyError):
    """A bulk edit that makes no sense; the paths in `details` are members of the change."""

    code = "bulk_edit_invalid"


class BulkEditNotFoundError(PolicyError):
    """There is no such bulk edit, or not for this principal."""

    code = "bulk_edit_not_found"


class UndoConflictError(PolicyError):
    """The record has moved on since the change that was to be undone."""

    code = "undo_conflict"


class UndoRefusedError(PolicyError):
    """Nobody may undo this change, or not this person: it is somebody else's, or one of a whole draft."""

    code = "undo_refused"


class PublicationConflictError(PolicyError):
    """Someone published since the draft was reviewed.

    Attributes:
        live: digest that is live now; empty when nothing is.
    """

    code = "publication_conflict"

    def __init__(self, message: str, live: str) -> None:
        super().__init__(message)
        self.live = live


class DraftMovedError(PolicyError):
    """The draft is not the one that was reviewed.

    Attributes:
        digest: of the draft as it is now; empty when it does not compile.
    """

    code = "draft_moved"

    def __init__(self, message: str, digest: str) -> None:
        super().__init__(message)
        self.digest = digest


class PublicationRefusedError(PolicyError):
    """The draft cannot be published; `details` holds every reason."""

    code = "publication_refused"


class PublishRuleInvalidError(PolicyError):
    """A rule of publishing, or a time to publish at, would not be valid; the paths in `details` are field names."""

    code = "publish_rule_invalid"


class PublishRequestClosedError(PolicyError):
    """The request to publish has been answered, withdrawn or overtaken."""

    code = "publish_request_closed"


class PublishRequestStaleError(PublishRequestClosedError):
    """The draft or what is live is no longer what the request is about. It is closed by now."""

    code = "publish_request_stale"


class OwnPublishRequestError(PolicyError):
    """Whoever asks for a second person is not that person."""

    code = "own_request"


class PolicyTestInvalidError(PolicyError):
    """A policy test would not be valid; the paths in `details` are field names."""

    code = "policy_test_invalid"


class ReplayInvalidError(PolicyError):
    """A replay that cannot be asked for; `details` says why."""

    code = "replay_invalid"


class ReplayNotFoundError(PolicyError):
    """There is no such replay for who asks."""

    code = "not_found"


class ReplayStateError(PolicyError):
    """The replay has ended."""

    code = "replay_ended"


class ShadowInvalidError(PolicyError):
    """A change that cannot be watched in shadow; `details` says why."""

    code = "shadow_invalid"


class ShadowNotFoundError(PolicyError):
    """There is no such shadow rule for who asks."""

    code = "not_found"


class ShadowStateError(PolicyError):
    """The shadow rule is watched no longer."""

    code = "shadow_ended"


class GuardrailInvalidError(PolicyError):
    """A guardrail would not be valid; the paths in `details` are field names."""

    code = "guardrail_invalid"


class GuardrailNotAcceptedError(PolicyError):
    """A failure of a guardrail cannot be accepted: it blocks, another thing fails by now, or nobody says why."""

    code = "guardrail_not_accepted"


class SnapshotUntrustedError(PolicyError):
    """A stored snapshot does not fit its digest or its signature."""

    code = "snapshot_untrusted"
