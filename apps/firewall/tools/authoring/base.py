"""Tools as classes."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from apps.firewall.tools.authoring.context import ToolContext
from apps.firewall.tools.authoring.docstrings import read_docstring
from apps.firewall.tools.authoring.members import members_of_class, name_of_class


class BaseTool(ABC):
    """One tool. Members of its definition are class attributes: `name`, `description`, `permissions`, …

    What is left out is read from the class: the name from its name, the description from its docstring, the schema
    from the signature of `execute`. An instance answers one call and is made without arguments.
    """

    context: ToolContext = ToolContext()
    """Set before `initialise` and `execute`."""

    @property
    def config(self) -> Mapping[str, Any]:
        """The tool's settings."""
        return self.context.config

    @abstractmethod
    def execute(self, *args: Any, **params: Any) -> Any:
        """Answer a call, its parameters given by name; `async def` is as good, and so is any signature."""

    def initialise(self) -> Any:  # noqa: B027 - most tools need none
        """Prepare what calls need, such as a connection; sync or async. Raising says why the tool cannot be used."""

    def close(self) -> Any:  # noqa: B027
        """Let go of what `initialise` took; sync or async."""

    def get_definition(self) -> Mapping[str, Any]:
        """Describe the tool; override it where attributes do not suffice. What it leaves out is still read."""
        return {}


def definition_of_class(instance: BaseTool) -> dict[str, Any]:
    """Put the definition of a tool together, all but a schema that its signature has to give."""
    owner = type(instance)
    definition = members_of_class(owner) | dict(instance.get_definition())
    definition.setdefault("name", name_of_class(owner.__name__))
    own_words = read_docstring(inspect.cleandoc(owner.__doc__ or "")).description
    definition.setdefault("description", own_words or read_docstring(inspect.getdoc(owner.execute) or "").description)
    return definition
