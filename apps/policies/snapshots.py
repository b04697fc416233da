"""Stored snapshots -> snapshots: signature and digest are checked before any use."""

from collections import OrderedDict
from threading import Lock

from django.utils.translation import gettext as _

from apps.firewall.engine.snapshot import Snapshot, SnapshotError, load_snapshot
from apps.keys.signing import Signature, verify
from apps.policies.errors import SnapshotUntrustedError
from apps.policies.models import Publication, StoredSnapshot

KEPT = 8

_loaded: OrderedDict[str, Snapshot] = OrderedDict()
_lock = Lock()


def publication_snapshot(publication: Publication) -> Snapshot:
    """Return the snapshot of a publication.

    Raises:
        SnapshotUntrustedError: digest or signature do not fit.
    """
    return snapshot_loaded(publication.snapshot_id)


def snapshot_loaded(digest: str) -> Snapshot:
    """Return a snapshot by digest; the last few stay in memory.

    Raises:
        SnapshotUntrustedError: it is not stored, or digest or signature do not fit.
    """
    with _lock:
        snapshot = _loaded.get(digest)
        if snapshot is not None:
            _loaded.move_to_end(digest)
            return snapshot
    snapshot = _load(digest)
    with _lock:
        _loaded[digest] = snapshot
        while len(_loaded) > KEPT:
            _loaded.popitem(last=False)
    return snapshot


def _load(digest: str) -> Snapshot:
    stored = StoredSnapshot.objects.filter(pk=digest).first()
    if stored is None:
        raise SnapshotUntrustedError(_("the snapshot `%(digest)s` is not stored") % {"digest": digest[:12]})
    content = bytes(stored.content)
    if not verify(content, Signature(stored.key_id, bytes(stored.signature))):
        raise SnapshotUntrustedError(
            _("the signature of the snapshot `%(digest)s` does not fit") % {"digest": digest[:12]}
        )
    try:
        return load_snapshot(content, expected_digest=digest)
    except SnapshotError as exc:
        raise SnapshotUntrustedError(
            _("the snapshot `%(digest)s` cannot be used: %(message)s") % {"digest": digest[:12], "message": exc.message}
        ) from exc
