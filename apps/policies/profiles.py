"""The profiles that an environment's records may name."""

from apps.firewall.engine.dialect import dialect_named
from apps.policies.models import Profile
from apps.registry.models import Environment


def own_profiles(environment: Environment) -> list[str]:
    """Name the profiles of our own."""
    return list(Profile.objects.filter(environment=environment).values_list("key", flat=True))


def known_profiles(environment: Environment) -> tuple[str, ...]:
    """Name the built-in profiles of the release, then those of our own."""
    return (*dialect_named(environment.dialect).profiles, *own_profiles(environment))
