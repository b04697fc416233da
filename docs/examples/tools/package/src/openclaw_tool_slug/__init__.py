"""One tool, named in `pyproject.toml` as an entry point of `openclaw.tools`."""

import re
import unicodedata

from openclaw_admin.tools import tool


@tool(version="1.0.0", category="text")
def make_slug(title: str, max_length: int = 60) -> dict[str, str]:
    """Turn a title into a slug for an address.

    Args:
        title: any text.
        max_length: of the slug, in characters.
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return {"slug": re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:max_length].rstrip("-")}
