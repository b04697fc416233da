"""Tags and filters of the console: icons, ids, durations, and text that strangers wrote."""

import json
import re
import unicodedata
import zlib
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.audit.problems import place_to_people, told_to_people
from apps.firewall.engine.exec_policy.lookalikes import looks_like_another
from apps.firewall.identifiers import show_id

register = template.Library()

KEPT_CONTROLS = {"\n", "\t"}
MASK = re.compile(r"(\[masked [0-9]{1,10} characters, [0-9a-f]{8}\])")
INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
# Letters that draw nothing or join others, though Unicode counts them as letters or marks.
BLANK_LETTERS = {"\u115f", "\u1160", "\u3164", "\uffa0", "\u034f", "\u2800", "\u17b4", "\u17b5"}


@register.simple_tag
@lru_cache(maxsize=1024)
def icon(name: str, css: str = "") -> SafeString:
    """Draw an icon of the sprite; it says nothing to screen readers, the text beside it does."""
    return format_html(
        '<svg class="i {}" aria-hidden="true"><use href="{}#i-{}"/></svg>', css, static("vendor/icons.svg"), name
    )


register.filter("problem_told", told_to_people)
register.filter("problem_place", place_to_people)


def _is_hidden(letter: str) -> bool:
    if letter in KEPT_CONTROLS:
        return False
    return letter in BLANK_LETTERS or unicodedata.category(letter) in INVISIBLE


def _visible_parts(text: str) -> Iterator[str]:
    for letter in text:
        if _is_hidden(letter):
            yield _coded(letter)
        else:
            yield escape(letter)


def _coded(letter: str) -> str:
    name = unicodedata.name(letter, "") or _("control character")
    return format_html('<span class="hidden-char" title="{}">{}</span>', name, f"U+{ord(letter):04X}")


@register.filter
def visible(value: object) -> SafeString:
    """Escape text, and show its control, bidi and invisible characters as codes (U+202E)."""
    text = "" if value is None else str(value)
    if text.isascii() and text.isprintable():
        return SafeString(escape(text))
    return mark_safe("".join(_visible_parts(text)))  # noqa: S308 - each part is escaped above


@register.simple_tag
def heat_cells(row: Any, places: int, opened: str) -> SafeString:
    """Draw the cells of one row of the matrix: a page has thousands, too many for a template of their own.

    Args:
        opened: the tool whose cell is open; empty where none of this row is.
    """
    sentence = str(_("%(agent)s, %(tool)s: %(count)s of %(places)s places"))
    asks, agent = ", " + _("asks first"), visible_text(row.agent)
    return format_html_join(
        "",
        '<td class="{}"><a href="{}#cell" class="hc q{}{}{}" aria-label="{}{}">{}</a></td>',
        (
            (
                "grp" if cell.starts_section else "",
                cell.url,
                cell.shade,
                " ap" if cell.asks else "",
                " on" if cell.tool == opened else "",
                sentence % {"agent": agent, "tool": cell.tool, "count": cell.count, "places": places},
                asks if cell.asks else "",
                cell.count or "·",
            )
            for cell in row.cells
        ),
    )


@register.filter
def command_text(value: object) -> SafeString:
    """Escape a piece of a command so that what is read is what runs.

    As `visible`, and blanks that are no blanks and marks that stack are codes, too; line breaks show; letters that look
    like others are marked and named.
    """
    text = "" if value is None else str(value)
    if text.isascii() and text.isprintable():
        return SafeString(escape(text))
    return mark_safe("".join(_command_parts(text)))  # noqa: S308 - each part is escaped below


def _command_parts(text: str) -> Iterator[str]:
    before = ""
    for letter in text:
        if letter == "\n":
            yield '<span class="op" aria-hidden="true">⏎</span>\n'
        elif letter == "\t" or _is_hidden(letter) or _is_odd_blank(letter) or _stacks(letter, before):
            yield _coded(letter)
        elif looks_like_another(letter):
            name = f"U+{ord(letter):04X} {unicodedata.name(letter, '')}"
            yield format_html('<span class="odd-char" title="{}">{}</span>', name, letter)
        else:
            yield escape(letter)
        before = letter


def _is_odd_blank(letter: str) -> bool:
    return letter != " " and unicodedata.category(letter) == "Zs"


def _stacks(letter: str, before: str) -> bool:
    return unicodedata.category(letter).startswith("M") and not before.isalpha()


@register.filter
def visible_text(value: object) -> str:
    """Show hidden characters as codes where no element may stand: attributes, options, titles."""
    text = "" if value is None else str(value)
    return "".join(f"[U+{ord(letter):04X}]" if _is_hidden(letter) else letter for letter in text)


@register.filter(name="json")
def json_text(value: object) -> SafeString:
    """Write a JSON value with indents and colours; each key and text is escaped and made visible."""
    return mark_safe("".join(_json_parts(value, 0)))  # noqa: S308 - each part is escaped below


@register.filter
def json_or_text(value: object) -> SafeString:
    """Write a text as it is, made visible, anything else as JSON."""
    return visible(value) if isinstance(value, str) else json_text(value)


def _json_parts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, dict | list) and value:
        is_map = isinstance(value, dict)
        yield "{" if is_map else "["
        items = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        for number, (key, item) in enumerate(items):
            yield ",\n" if number else "\n"
            yield "  " * (depth + 1)
            if is_map:
                yield f'<span class="k">{visible(json.dumps(str(key), ensure_ascii=False))}</span>: '
            yield from _json_parts(item, depth + 1)
        yield "\n" + "  " * depth + ("}" if is_map else "]")
    elif isinstance(value, str):
        for number, piece in enumerate(MASK.split(json.dumps(value, ensure_ascii=False))):
            yield f'<span class="{"m" if number % 2 else "s"}">{visible(piece)}</span>'
    else:
        yield escape(json.dumps(value, ensure_ascii=False))


@register.filter
def milliseconds(value: int | None) -> str:
    """Write a duration: 88 ms, 14.9 s, 2 min 5 s, 3 h 4 min."""
    if value is None:
        return "–"
    if value < 1000:
        return _("%(number)s ms") % {"number": number_format(value)}
    if value < 100_000:
        return _("%(number)s s") % {"number": number_format(value / 1000, 1)}
    seconds = value // 1000
    if seconds < 3600:
        return _("%(minutes)s min %(seconds)s s") % {"minutes": seconds // 60, "seconds": seconds % 60}
    return _("%(hours)s h %(minutes)s min") % {"hours": seconds // 3600, "minutes": seconds % 3600 // 60}


def ago_text(value: datetime) -> str:
    """Write how long ago something was: 9 s ago, 2 min ago, 3 h ago, 4 days ago."""
    seconds = max(0, int((timezone.now() - value).total_seconds()))
    if seconds < 60:
        return _("%(number)s s ago") % {"number": seconds}
    if seconds < 3600:
        return _("%(number)s min ago") % {"number": seconds // 60}
    if seconds < 172_800:
        return _("%(number)s h ago") % {"number": seconds // 3600}
    days = seconds // 86_400
    return ngettext("%(number)s day ago", "%(number)s days ago", days) % {"number": days}


@register.filter
def ago(value: datetime | None) -> str:
    """Write how long ago something was; the page keeps it right while it is open, and tells the instant on hover."""
    if value is None:
        return _("never")
    return format_html(
        '<time data-age datetime="{}" title="{}">{}</time>', value.isoformat(), minute(value), ago_text(value)
    )


@register.simple_tag
def age_words() -> str:
    """Write the words of ages as attributes, for the script that keeps ages right."""
    words = {
        "s": _("%(number)s s ago"),
        "min": _("%(number)s min ago"),
        "h": _("%(number)s h ago"),
        "day": ngettext("%(number)s day ago", "%(number)s days ago", 1),
        "days": ngettext("%(number)s day ago", "%(number)s days ago", 2),
    }
    return format_html_join(" ", 'data-{}="{}"', words.items())


@register.filter
def instant(value: datetime | None) -> str:
    """Write an instant to the millisecond, with its zone: 14 Nov 2026, 14:18:41.208 UTC."""
    if value is None:
        return "–"
    at, form = timezone.localtime(value), _("j M Y, H:i:s")  # not within the f-string, where no translator finds it
    return f"{date_format(at, form)}.{at.microsecond // 1000:03d} {at:%Z}"


@register.filter
def minute(value: datetime | None) -> str:
    """Write an instant in UTC to the minute: 14 Nov 2026, 14:18 UTC."""
    form = _("j M Y, H:i")
    return "–" if value is None else f"{date_format(value, form)} UTC"


@register.filter
def clock(value: datetime) -> str:
    """Write the time of day: 14:18:41.208."""
    at = timezone.localtime(value)
    return f"{at:%H:%M:%S}.{at.microsecond // 1000:03d}"


@register.filter
def percent(value: float) -> str:
    """Write a share: 1.9 %."""
    return _("%(number)s %%") % {"number": number_format(value * 100, 1)}


@register.filter
def epoch_ms(value: datetime) -> int:
    """Give an instant to a script: milliseconds since the epoch."""
    return round(value.timestamp() * 1000)


@register.filter
def grouped(value: float) -> str:
    """Write a number with its groups: 2,104,388."""
    return number_format(value, force_grouping=True)


@register.filter
def shown_id(value: UUID | str, prefix: str) -> str:
    """Write an identifier for people."""
    return value if isinstance(value, str) else show_id(prefix, value)


@register.filter
def short_digest(value: str | None) -> str:
    """Write the two ends of a digest: 9f3c1a7e…d20b."""
    return f"{value[:8]}…{value[-4:]}" if value else "–"


@register.filter
def initials(value: object) -> str:
    """Write up to two letters for a person's mark."""
    words = str(value).replace(".", " ").replace("_", " ").replace("-", " ").split()
    return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper()


@register.filter
def hue(value: object) -> str:
    """Choose one of the four colours of people's marks; the same name has the same one."""
    return f"a{zlib.crc32(str(value).encode()) % 4 + 1}"


@register.filter
def lookup(mapping: dict[Any, Any], key: object) -> Any:
    """Read a mapping by a value that the template holds."""
    return mapping.get(key, "")


@register.inclusion_tag("components/_person.html")
def person(name: object, size: str = "") -> dict[str, object]:
    """Draw a person's mark: two letters on a colour."""
    return {"name": name, "size": size}


@register.inclusion_tag("components/_layer.html")
def layer(number: int | None, name: str = "") -> dict[str, object]:
    """Draw the numbered chip of a policy layer."""
    return {"number": number, "name": name}


@register.inclusion_tag("components/_verdict.html")
def verdict(kind: str, text: str = "") -> dict[str, str]:
    """Draw a verdict, `allow`, `deny` or `ask`: icon and word."""
    return {"kind": kind, "text": text}


@register.inclusion_tag("components/_blank.html")
def blank(icon_name: str, title: str, text: str = "", level: int = 3) -> dict[str, Any]:
    """Draw an empty state: icon, title, one sentence. `level` is that of its heading, 2 right below the page's own."""
    return {"icon_name": icon_name, "title": title, "text": text, "level": level}


@register.inclusion_tag("components/_field.html")
def field(bound: Any, hint: str = "") -> dict[str, Any]:
    """Draw a form field with label, hint and error, joined for screen readers."""
    return {"field": bound, "hint": hint or bound.help_text}
