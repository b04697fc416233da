"""One environment with the catalogue, as a first installation has it."""

import pytest

from apps.registry.models import Environment
from apps.registry.services import environment_default


@pytest.fixture
def environment(db: None) -> Environment:
    return environment_default()
