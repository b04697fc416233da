"""What one environment has live becomes another one's draft, and goes live there through the same checks."""

from datetime import datetime

from django.utils.translation import gettext as _

from apps.accounts.access import Permission
from apps.firewall.engine.document import read_stored_policy
from apps.policies.actors import By
from apps.policies.changes import changes_since
from apps.policies.errors import PublicationConflictError, PublicationRefusedError
from apps.policies.locks import draft_lock
from apps.policies.models import Profile, Publication, PublishRequest
from apps.policies.rules_of_release import needs_second_person
from apps.policies.selectors import live_publication
from apps.policies.services.documents import draft_take
from apps.policies.services.publishing import publish
from apps.policies.services.records import profile_create, record_update
from apps.policies.services.releasing import publish_ask
from apps.policies.snapshots import publication_snapshot
from apps.registry.models import Environment
from apps.registry.services.changing import change


def promote(
    environment: Environment,
    publication: Publication,
    *,
    by: By,
    message: str,
    expected_live: str | None,
    at: datetime,
) -> Publication | PublishRequest:
    """Publish in an environment what another one has live. Tools stay those of the environment.

    Args:
        publication: what is live in the other environment.
    Returns:
        The publication; the request where a second person must confirm it.
    Raises:
        PermissionDeniedError, DocumentInvalidError, SnapshotUntrustedError.
        PublicationConflictError: something else is live by now, here or there.
        PublicationRefusedError: every reason why it cannot be published here; nothing has changed.
    """
    with change(by, permission=Permission.PUBLISH):
        environment = draft_lock(environment)
        _check(environment, publication, expected_live)
        _take_profiles(environment, publication, by)
        draft_take(environment, publication, by=by, reason="promote")
        if needs_second_person(environment):
            return publish_ask(environment, by=by, message=message, expected_live=expected_live, at=at)
        return publish(environment, by=by, message=message, expected_live=expected_live)


def _check(environment: Environment, publication: Publication, expected_live: str | None) -> None:
    live, theirs = live_publication(environment), live_publication(publication.environment)
    digest = "" if live is None else live.snapshot_id
    if digest != (expected_live or ""):
        raise PublicationConflictError(_("someone published in the meantime"), digest)
    if theirs is None or theirs.pk != publication.pk:
        raise PublicationConflictError(_("something else is live in the other environment by now"), digest)
    details = []
    if publication.environment_id == environment.pk:
        details.append(_mistake("same_environment", _("this environment has it already")))
    elif publication.environment.dialect != environment.dialect:
        details.append(_mistake("other_release", _("the other environment speaks another release")))
    if changes_since(environment, live, limit=1):
        message = _("the draft here has changes that are not published: publish or discard them first")
        details.append(_mistake("draft_not_empty", message))
    if details:
        raise PublicationRefusedError(_("nothing can be promoted"), details)


def _mistake(code: str, message: str) -> dict[str, str]:
    return {"path": "", "code": code, "message": message}


def _take_profiles(environment: Environment, publication: Publication, by: By) -> None:
    """Bring the profiles of its own that the other environment's policy names; those that it lacks stay."""
    document = publication_snapshot(publication).document
    known = {profile.key: profile for profile in Profile.objects.filter(environment=environment)}
    for key, position in document.get("profiles", {}).items():
        policy = read_stored_policy(document["policies"][position])
        lists = {"allow": _listed(policy.allow), "deny": _listed(policy.deny)}
        profile = known.get(key)
        if profile is None:
            profile_create(environment, key, by=by, **lists)
        elif {name: getattr(profile, name) for name in lists} != lists:
            record_update(profile, lists, by=by, expected_version=profile.version)


def _listed(names: tuple[str, ...] | None) -> list[str] | None:
    return None if names is None else list(names)
