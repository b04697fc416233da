"""Requirements of tools compared with what is installed."""

from collections.abc import Iterable
from importlib import metadata

from packaging.requirements import InvalidRequirement, Requirement


def unmet(requirements: Iterable[str]) -> list[str]:
    """Say what is missing: one sentence for each requirement (PEP 508) that is not met here."""
    return [problem for problem in map(_problem, requirements) if problem]


def _problem(text: str) -> str:
    try:
        requirement = Requirement(text)
    except InvalidRequirement as exc:
        return f"`{text}` is no requirement: {str(exc).splitlines()[0]}"
    if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
        return ""
    try:
        installed = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return f"`{text}` is not installed"
    if requirement.specifier and not requirement.specifier.contains(installed, prereleases=True):
        return f"`{text}` is not met: {installed} is installed"
    return ""
