"""Rules by sender as a table for spreadsheets: reading one without trusting it, and writing one.

Columns are `key`, `allow`, `also_allow` and `deny`. A cell of names holds them with `;` or line breaks between; an
empty cell is an absent list, `[]` an empty one, and names that hold a separator are a JSON list. A cell that begins as
a formula does is written behind a `'`, and refused without one, unless it can be a phone number, a user name or an id.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.policies.document.shapes import NAME_LENGTH, did_you_mean
from apps.policies.errors import DocumentInvalidError

COLUMNS: Final = ("key", "allow", "also_allow", "deny")
LISTS: Final = COLUMNS[1:]
ROWS_LIMIT: Final = 100_000
NAMES_LIMIT: Final = 2000
SHOWN_LENGTH: Final = 80
_SPELLINGS: Final = {"alsoallow": "also_allow", "also allow": "also_allow", "sender": "key"}
_DELIMITERS: Final = (",", ";", "\t")
_SEPARATORS: Final = re.compile(r"[;\r\n]+")
_GUARDED: Final = ("=", "+", "-", "@", "\t", "\r", "'")
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Mistake:
    """Why a row is refused: the column, the rule that it breaks, and a sentence."""

    field: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row as read.

    Attributes:
        line: where it begins in the file, from 1.
        lists: the lists whose columns the table has; None for an absent one.
    """

    line: int
    key: str
    lists: Mapping[str, list[str] | None]
    mistake: Mistake | None = None


def read_table(content: str | bytes) -> list[TableRow]:
    """Read a table; a row with a mistake is a row.

    Raises:
        DocumentInvalidError: the table as a whole cannot be read: encoding, header, size.
    """
    text = _text_of(content)
    head = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[TableRow] = []
    try:
        columns = _columns(next(reader, []))
        line = reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append(_row(line, columns, cells))
            if len(rows) > ROWS_LIMIT:
                raise _refused(line, "too_long", _("more than %(limit)s rows") % {"limit": ROWS_LIMIT})
            line = reader.line_num + 1
    except csv.Error as exc:
        raise _refused(reader.line_num, "unreadable", _("not a table: %(reason)s") % {"reason": exc}) from exc
    return rows


def _refused(line: int, code: str, message: str) -> DocumentInvalidError:
    return DocumentInvalidError(message, [{"path": f"line {line}", "code": code, "message": message}])


def _text_of(content: str | bytes) -> str:
    text = content if isinstance(content, str) else _decoded(content)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise _refused(line, "encoding", _("line %(line)s holds a zero character") % {"line": line})
    return text.removeprefix("\ufeff")


def _decoded(content: bytes) -> str:
    if content.startswith(_WIDE):
        raise _refused(1, "encoding", _("the file is UTF-16: save it as CSV in UTF-8"))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as exc:
        line = content.count(b"\n", 0, exc.start) + 1
        message = _("line %(line)s is not UTF-8: save the file as CSV in UTF-8") % {"line": line}
        raise _refused(line, "encoding", message) from exc


def _columns(cells: list[str]) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    columns = [_SPELLINGS.get(name, name) for name in names]
    for name in columns:
        if name not in COLUMNS:
            shown = {"name": name[:SHOWN_LENGTH], "hint": did_you_mean(name[:SHOWN_LENGTH], COLUMNS)}
            raise _refused(1, "unknown_key", _("there is no column `%(name)s`%(hint)s") % shown)
        if columns.count(name) > 1:
            raise _refused(1, "repeated", _("the column `%(name)s` stands there twice") % {"name": name})
    if "key" not in columns:
        raise _refused(1, "missing", _("the first line names the columns: %(names)s") % {"names": ", ".join(COLUMNS)})
    return columns


def _row(line: int, columns: list[str], cells: list[str]) -> TableRow:
    given = dict(zip(columns, cells, strict=False))
    raw = given.get("key", "")
    if len(cells) > len(columns) and any(cell.strip() for cell in cells[len(columns) :]):
        return TableRow(line, raw, {}, Mistake("", "too_many", _("the row has more cells than columns")))
    lists: dict[str, list[str] | None] = {}
    for name in columns:
        cell = given.get(name, "")
        if cell.startswith("="):
            return TableRow(line, raw, {}, Mistake(name, "formula", _("begins like a formula; write `'=`")))
        if name != "key":
            names, mistake = _names(name, _unguarded(cell))
            if mistake is not None:
                return TableRow(line, raw, {}, mistake)
            lists[name] = names
    key = _unguarded(raw)
    mistake = None
    if len(key) > NAME_LENGTH:
        mistake = Mistake("key", "too_long", _("is longer than %(limit)s characters") % {"limit": NAME_LENGTH})
    elif lists.get("allow") and lists.get("also_allow"):
        mistake = Mistake("also_allow", "allow_and_also", _("stands beside `allow`: one of the two has to go"))
    return TableRow(line, key[:NAME_LENGTH], lists, mistake)


def _names(field: str, cell: str) -> tuple[list[str] | None, Mistake | None]:
    if cell.lstrip().startswith("["):
        try:
            found = json.loads(cell)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
            return None, Mistake(field, "wrong_type", _("is no JSON list of names"))
        names: list[str] = found
    else:
        names = [name.strip() for name in _SEPARATORS.split(cell) if name.strip()]
        if not names:
            return None, None
    if len(names) > NAMES_LIMIT:
        return None, Mistake(field, "too_long", _("has more than %(limit)s names") % {"limit": NAMES_LIMIT})
    if any(len(name) > NAME_LENGTH or "\0" in name for name in names):
        return None, Mistake(field, "too_long", _("has a name longer than %(limit)s") % {"limit": NAME_LENGTH})
    return names, None


# --- writing ---


def write_table(rules: Iterable[Any]) -> Iterator[str]:
    """Write rules line by line, the header first; reading it again gives the same rules."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for rule in rules:
        writer.writerow([_guarded(rule.key), *(_cell(getattr(rule, name)) for name in LISTS)])
        if buffer.tell() > 65_536:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def _cell(names: list[str] | None) -> str:
    if names is None:
        return ""
    plain = "; ".join(names)
    is_plain = (
        names
        and not plain.startswith("[")
        and all(name and name == name.strip() and not _SEPARATORS.search(name) for name in names)
    )
    return _guarded(plain if is_plain else json.dumps(names, ensure_ascii=False))


def _guarded(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_GUARDED) else cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_GUARDED) else cell
