"""Environments, each with the core catalogue of the release that it speaks."""

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from apps.accounts.access import actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.firewall.engine.dialect import DEFAULT_RELEASE, dialect_named
from apps.registry.errors import RegistryError
from apps.registry.models import Environment
from apps.registry.selectors import environments
from apps.registry.services.catalogue import registry_fill
from apps.registry.services.changing import By, change, field_problems

DEFAULT_SLUG = "production"


def environment_create(*, slug: str, name: str = "", dialect: str = DEFAULT_RELEASE, by: By = None) -> Environment:
    """Add an environment with the core catalogue of its dialect.

    Raises:
        PermissionDeniedError, RegistryError: the slug is taken or not one; UnknownDialectError.
    """
    dialect_named(dialect)
    with change(by):
        last = environments().aggregate(last=Max("position"))["last"]
        position = 0 if last is None else last + 1
        environment = Environment(slug=slug, name=name or slug.capitalize(), dialect=dialect, position=position)
        details = field_problems(environment)
        if details:
            raise RegistryError(_("the environment `%(slug)s` cannot be made: see details") % {"slug": slug}, details)
        environment.save(force_insert=True)
        registry_fill(environment)
        announce("environment.changed", id=environment.pk, environment=slug)
    return environment


@transaction.atomic
def environment_default() -> Environment:
    """Give the first environment, making `production` when there is none."""
    first = environments().first()
    if first is not None:
        return first
    # Two processes that start together: the second waits here and finds the row of the first.
    with transaction.get_connection().cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('openclaw_admin environment_default'))")
    return environments().first() or environment_create(slug=DEFAULT_SLUG)


def environment_set_dialect(environment: Environment, *, dialect: str, by: By = None) -> Environment:
    """Speak another release: its catalogue is filled in, core tools it does not know are unregistered.

    What is live speaks its own release until the next publication.

    Raises:
        PermissionDeniedError, UnknownDialectError.
        ToolInvalidError: the release brings a tool whose name is taken.
    """
    dialect_named(dialect)
    with change(by):
        environment = Environment.objects.select_for_update().get(pk=environment.pk)
        if environment.dialect != dialect:
            before, environment.dialect = environment.dialect, dialect
            environment.save(update_fields=["dialect"])
            registry_fill(environment)
            announce("environment.changed", id=environment.pk, environment=environment.slug)
            _tell_dialect(environment, before, by)
    return environment


def _tell_dialect(environment: Environment, before: str, by: By) -> None:
    told = {"action": "update", "kind": "environment", "fields": {"dialect": environment.dialect}, "before": before}
    entry_record(
        EntryDraft(kind=EntryKind.POLICY_CHANGE, actor=actor_of(by), environment=environment.slug, changes=told)
    )
