"""The example agent of `docs/examples/agents`, loaded from where people read it."""

import importlib.util
from types import ModuleType

from django.conf import settings


def example_agent() -> ModuleType:
    """Load the example; what is demonstrated is exactly what the documentation shows.

    Raises:
        FileNotFoundError: this installation came without it.
    """
    path = settings.BASE_DIR / "docs" / "examples" / "agents" / "agent.py"
    spec = importlib.util.spec_from_file_location("example_agent", path)
    assert spec is not None and spec.loader is not None  # noqa: S101 - a path that ends in .py
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
