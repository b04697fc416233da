"""Finding what a path names: a record of the environment, or 404."""

from typing import Any, TypeVar

from rest_framework.exceptions import NotFound

R = TypeVar("R")


def found(record: R | None, what: str) -> R:
    """Give a record.

    Raises:
        NotFound: there is none; whether it exists in another environment is not told.
    """
    if record is None:
        raise NotFound(f"no such {what}")
    return record


def version_of(query: Any) -> int:
    """Read `?version=` of a DELETE."""
    from apps.api.views.records import VersionSerializer

    seen = VersionSerializer(data=query)
    seen.is_valid(raise_exception=True)
    version: int = seen.validated_data["version"]
    return version
