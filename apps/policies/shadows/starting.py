"""Shadow rules that people, programs and the command line start and stop; who may read them."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, Principal, actor_of, may_environment, require
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.audit.walking import heads_now
from apps.firewall.engine.rule_changes import RuleEdit, edits_between, entry_edit, snapshot_with, with_edits
from apps.firewall.engine.rule_tree import tree_of
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.errors import FirewallError
from apps.policies.actors import By, person_of
from apps.policies.changes import DraftChange
from apps.policies.document.findings import show_path
from apps.policies.draft_fixes import DraftEdit
from apps.policies.errors import ShadowInvalidError, ShadowNotFoundError, ShadowStateError
from apps.policies.kinds import KINDS, MEMBERS, event_model
from apps.policies.locks import draft_lock
from apps.policies.models import ShadowRule
from apps.policies.places import Places
from apps.policies.selectors import draft_changes, draft_snapshot, live_snapshot, record_get
from apps.policies.shadows.places import WATCHED, block_of, rules_of
from apps.registry.models import Environment

WATCHED_MOST: Final = 20
"""So many are watched in an environment at once: each call is held against every one of them."""
KEPT: Final = 50
"""So many that have ended stay; older ones go when the next one begins."""
EDITS_BYTES: Final = 256 * 1024
CHANGES_LIMIT: Final = 2000


def shadow_start(environment: Environment, kind: str, record: UUID, *, by: By, at: datetime) -> ShadowRule:
    """Watch what the draft changes in one record, without its being enforced; the draft stays as it is.

    While the same change is watched, it is the one that was asked for.

    Raises:
        PermissionDeniedError: the principal may not change policy.
        ShadowInvalidError: nothing is live, the record is not changed, its change decides nothing, or it is too much.
        SnapshotError: the draft has no canonical form.
    """
    _require_writer(by)
    live = _live(environment)
    found = [
        each for each in draft_changes(environment, limit=CHANGES_LIMIT) if (each.kind, each.record) == (kind, record)
    ]
    if not found:
        raise _invalid("record", "not_changed", _("the draft changes nothing in this record"))
    if kind not in WATCHED:
        raise _invalid("kind", "not_watched", _("a change of this kind of record decides about no call by itself"))
    event = event_model(KINDS[kind]).objects.filter(pgh_obj_id=record).order_by("-pgh_id").first()
    old, new = tree_of(live.document), tree_of(draft_snapshot(environment).document)
    rules = rules_of(kind, Places(environment).of(event, KINDS[kind]))
    edits = [edit for path, apart in rules for edit in edits_between(old, new, path, apart=apart)]
    origin = {"record": str(record), "event": event.pgh_id, "action": found[0].action, "fields": _fields(found)}
    return _start(environment, live, edits, kind=kind, place=found[0].label, origin=origin, by=by, at=at)


def shadow_start_edits(environment: Environment, edits: Sequence[DraftEdit], *, by: By, at: datetime) -> ShadowRule:
    """Watch entries that a smallest fix would add to lists or take from them, without putting them into the draft.

    Raises:
        PermissionDeniedError, ShadowInvalidError: as `shadow_start`.
    """
    _require_writer(by)
    live = _live(environment)
    tree, places, made, written = tree_of(live.document), Places(environment), [], []
    for edit in edits:
        record = record_get(environment, edit.kind, edit.record)
        lists = () if record is None else [each.field for each in MEMBERS.get(type(record), ())]
        if record is None or edit.field not in lists:
            raise _invalid("edit", "not_found", _("the draft has no such list any more"))
        place = places.of(record)
        block, member = block_of(edit.kind, place, edit.field)
        made.append(entry_edit(tree, block, member, edit.entry, is_added=edit.is_added))
        tree = _laid(tree, made[-1])
        written.append(_written(edit) | {"place": show_path(place) or edit.kind})
    shown = ", ".join(dict.fromkeys(each["place"] for each in written))
    return _start(environment, live, made, kind=edits[0].kind, place=shown, origin={"edits": written}, by=by, at=at)


def shadow_stop(shadow: ShadowRule, *, by: By, at: datetime) -> ShadowRule:
    """Watch a change no longer; what was counted stays.

    Raises:
        PermissionDeniedError: the principal may not change policy.
        ShadowStateError: it has ended.
    """
    _require_writer(by)
    with transaction.atomic():
        watching = ShadowRule.objects.filter(pk=shadow.pk, state=ShadowRule.State.WATCHING)
        if not watching.update(state=ShadowRule.State.STOPPED, ended_at=at):
            raise ShadowStateError(_("the shadow rule has ended: only one that is watched is stopped"))
        shadow.refresh_from_db()
        shadow_tell(shadow, "stop", by=by)
    return shadow


def shadow_delete(shadow: ShadowRule, *, by: By) -> None:
    """Take a shadow rule away with what it counted.

    Raises:
        PermissionDeniedError: the principal may not change policy.
    """
    _require_writer(by)
    with transaction.atomic():
        if ShadowRule.objects.filter(pk=shadow.pk).delete()[0]:
            shadow_tell(shadow, "delete", by=by)


def shadow_access(by: Principal, shadow_id: UUID, *, write: bool = False) -> ShadowRule:
    """Give a shadow rule to who may read policy in its environment, or change it.

    Raises:
        PermissionDeniedError: the principal may not read policy, or not change it.
        ShadowNotFoundError: there is none, or it is of an environment that is not the principal's.
    """
    require(by, Permission.POLICY_WRITE if write else Permission.POLICY_READ)
    shadow = ShadowRule.objects.select_related("environment").filter(pk=shadow_id).first()
    if shadow is None or not may_environment(by, shadow.environment.slug):
        raise ShadowNotFoundError(_("no such shadow rule"))
    return shadow


def shadows_of(environment: Environment) -> QuerySet[ShadowRule]:
    """Every shadow rule of an environment, the newest first."""
    return ShadowRule.objects.select_related("environment").filter(environment=environment)


def shadow_tell(shadow: ShadowRule, action: str, *, by: By, **more: Any) -> None:
    """Put on record that a change is watched, or no longer."""
    entry_record(
        EntryDraft(
            kind=EntryKind.POLICY_CHANGE,
            actor=actor_of(by),
            environment=shadow.environment.slug,
            snapshot_digest=shadow.live_digest,
            changes={
                "action": action,
                "kind": "shadow_rule",
                "shadow": shadow.shown_id,
                "place": shadow.place,
                "fields": {"edits": shadow.edits, "calls_seen": shadow.calls_seen, **more},
            },
        )
    )


def _start(
    environment: Environment,
    live: Snapshot,
    edits: Iterable[RuleEdit],
    *,
    by: By,
    at: datetime,
    **said: Any,
) -> ShadowRule:
    written = [edit.to_json() for edit in edits]
    if len(json.dumps(written)) > EDITS_BYTES:
        raise _invalid("record", "too_large", _("the change is too large to be watched by itself"))
    try:
        is_same = snapshot_with(live, map(RuleEdit.read, written)) == live
    except FirewallError as exc:
        raise _invalid("record", exc.code, exc.message) from exc
    if is_same:
        raise _invalid("record", "decides_nothing", _("the change decides nothing that calls meet"))
    with transaction.atomic():
        environment = draft_lock(environment)
        watched = ShadowRule.objects.filter(environment=environment, state=ShadowRule.State.WATCHING)
        for known in watched.select_related("environment"):
            if known.edits == written:
                return known
        if len(watched) >= WATCHED_MOST:
            message = _("%(most)s changes are watched already: stop one of them first") % {"most": WATCHED_MOST}
            raise _invalid("record", "too_many", message)
        _forget(environment)
        shadow = ShadowRule.objects.create(
            environment=environment,
            started_by=person_of(by),
            actor=actor_of(by),
            started_at=at,
            counted_at=at,
            edits=written,
            live_digest=live.digest,
            heads=heads_now(),
            **said,
        )
        shadow_tell(shadow, "create", by=by)
    return shadow


def _require_writer(by: By) -> None:
    if by is not None:
        require(by, Permission.POLICY_WRITE)


def _live(environment: Environment) -> Snapshot:
    live = live_snapshot(environment)
    if live is None:
        raise _invalid("", "nothing_live", _("nothing is live yet that a change could be laid over"))
    return live


def _laid(tree: dict[str, Any], edit: RuleEdit) -> dict[str, Any]:
    try:
        return with_edits(tree, [edit])
    except FirewallError as exc:
        raise _invalid("edit", exc.code, exc.message) from exc


def _fields(changes: Sequence[DraftChange]) -> list[str]:
    return [each.field for each in changes if each.field]


def _written(edit: DraftEdit) -> dict[str, Any]:
    said = {"kind": edit.kind, "record": str(edit.record), "field": edit.field}
    return said | {"entry": edit.entry, "is_added": edit.is_added}


def _invalid(path: str, code: str, message: str) -> ShadowInvalidError:
    return ShadowInvalidError(message, [{"path": path, "code": code, "message": message}])


def _forget(environment: Environment) -> None:
    ended = ShadowRule.objects.filter(environment=environment).exclude(state=ShadowRule.State.WATCHING)
    ShadowRule.objects.filter(pk__in=list(ended.values_list("id", flat=True)[KEPT - 1 :])).delete()
