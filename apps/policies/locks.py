"""One writer at a time in an environment's draft: publications must know exactly which changes they contain."""

from django.utils.translation import gettext as _

from apps.policies.errors import RecordGoneError
from apps.registry.models import Environment


def draft_lock(environment: Environment) -> Environment:
    """Hold an environment's draft until the end of the transaction.

    Raises:
        RecordGoneError: there is no such environment any more.
    """
    locked = Environment.objects.select_for_update(no_key=True).filter(pk=environment.pk).first()
    if locked is None:
        raise RecordGoneError(_("the environment `%(slug)s` does not exist") % {"slug": environment.slug})
    return locked
