"""What a model of a run is offered: bytes with all schemas against the compact surfaces, and how long they take."""

import os
from collections.abc import Iterator

from bench.figures import Figure


def measure() -> Iterator[Figure]:
    """Measure the labelled tools in every mode, in the form of OpenAI's chat completions."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")
    django.setup()
    from bench._tool_surface import figures

    yield from figures()
