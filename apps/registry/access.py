"""Who may touch which environment."""

from django.utils.translation import gettext as _

from apps.accounts.access import Principal, may_environment
from apps.accounts.models import ApiToken
from apps.registry.errors import EnvironmentUnknownError
from apps.registry.models import Environment
from apps.registry.selectors import environment_find
from apps.registry.services import environment_default


def environment_access(principal: Principal, slug: str = "") -> Environment:
    """Give an environment to who may see it; without a slug the one a token is bound to, else the default one.

    Raises:
        EnvironmentUnknownError: there is none, or the token is bound to another; one answer for both.
    """
    if not slug and isinstance(principal, ApiToken):
        slug = principal.environment
    environment = environment_find(slug) if slug else environment_default()
    if environment is None or not may_environment(principal, environment.slug):
        raise EnvironmentUnknownError(_("no environment named `%(slug)s`") % {"slug": slug})
    return environment
