"""What a page posts beside its form."""

from django.http import HttpRequest


def version_seen(request: HttpRequest) -> int:
    """Return the version of the record that the person had before their eyes; 0, which none has, when none is said."""
    text = request.POST.get("version", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
