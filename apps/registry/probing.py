"""The environment in which the installation tries its own doors: nobody chooses, fills or publishes it.

Its slug is none that a person may give, so figures, lists and rules of the others never touch what is tried in it.
"""

from typing import Final

from apps.registry.models import Environment

PROBES: Final = "~probe"


def environment_of_probes() -> Environment:
    """Give the environment of probes, making it the first time."""
    values = {"name": "Probes", "position": 2**30}
    return Environment.objects.get_or_create(slug=PROBES, defaults=values)[0]
