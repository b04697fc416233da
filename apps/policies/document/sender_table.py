"""Rules by sender as a table for spreadsheets: reading one without trusting it, and writing one.

Columns are `key`, `allow`, `also_allow` and `deny`. A cell of names holds them with `;` or line breaks between; an
empty cell is an absent list, `[]` an empty one, and names that hold a separator are a JSON list. A cell that begins as
a formula does is written behind a `'`, and refused without one, unless it can be a phone number, a user name or an id.

What spreadsheets do to a table is known: a hint line `sep=;`, empty columns without a name, numbers in exponents,
invisible letters of phone numbers that were copied, and text that was read in another encoding.
"""

import csv
import io
import json
import re
import unicodedata
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
_HINT: Final = re.compile(r"sep=(.)[,;\t\s]*\r?(?:\n|\Z)|sep=(.)[,;\t\s]*\r", re.IGNORECASE)
_ROUNDED: Final = re.compile(r"(?:[a-z0-9]+:)*\+?\d(?:[.,]\d+)?e\+?\d+", re.IGNORECASE)
_JOINERS: Final = "\u200c\u200d"
"""Letters without a look that belong into words of some scripts, and into emoji."""
MARK: Final = "\ufeff"
"""What spreadsheets know UTF-8 by."""
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
    hint = _HINT.match(text)
    above = 0 if hint is None else 1
    text = text if hint is None else text[hint.end() :]
    head = re.split(r"[\r\n]", text, maxsplit=1)[0]
    delimiter = max(_DELIMITERS, key=head.count) if hint is None else (hint[1] or hint[2])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[TableRow] = []
    try:
        columns = _columns(next(reader, []), line=above + 1)
        line = reader.line_num + 1 + above
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append(_row(line, columns, cells))
            if len(rows) > ROWS_LIMIT:
                raise _refused(line, "too_long", _("more than %(limit)s rows") % {"limit": ROWS_LIMIT})
            line = reader.line_num + 1 + above
    except csv.Error as exc:
        raise _refused(reader.line_num + above, "unreadable", _("not a table: %(reason)s") % {"reason": exc}) from exc
    return rows


def _refused(line: int, code: str, message: str) -> DocumentInvalidError:
    return DocumentInvalidError(message, [{"path": f"line {line}", "code": code, "message": message}])


def _text_of(content: str | bytes) -> str:
    text = content if isinstance(content, str) else _decoded(content)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise _refused(line, "encoding", _("line %(line)s holds a zero character") % {"line": line})
    return text.removeprefix(MARK)


def _decoded(content: bytes) -> str:
    if content.startswith(_WIDE):
        raise _refused(1, "encoding", _("the file is UTF-16: save it as CSV in UTF-8"))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as exc:
        line = content.count(b"\n", 0, exc.start) + 1
        message = _("line %(line)s is not UTF-8: save the file as CSV in UTF-8") % {"line": line}
        raise _refused(line, "encoding", message) from exc


def _columns(cells: list[str], *, line: int) -> list[str]:
    """Read the names of the columns; one without a name, "", holds nothing."""
    names = ["".join(letter for letter in cell if not _is_invisible(letter)).strip().lower() for cell in cells]
    columns = [_SPELLINGS.get(name, name) for name in names]
    for name in filter(None, columns):
        if name not in COLUMNS:
            shown = {"name": name[:SHOWN_LENGTH], "hint": did_you_mean(name[:SHOWN_LENGTH], COLUMNS)}
            raise _refused(line, "unknown_key", _("there is no column `%(name)s`%(hint)s") % shown)
        if columns.count(name) > 1:
            raise _refused(line, "repeated", _("the column `%(name)s` stands there twice") % {"name": name})
    if "key" not in columns:
        raise _refused(
            line, "missing", _("the first line names the columns: %(names)s") % {"names": ", ".join(COLUMNS)}
        )
    return columns


def _is_invisible(letter: str) -> bool:
    return unicodedata.category(letter) in {"Cf", "Cc"} and letter not in "\t\r\n"


def _unreadable(key: str) -> Mistake | None:
    """Say what a spreadsheet did to a key, so that no sender can have it any more."""
    if _ROUNDED.fullmatch(key.strip()):
        message = _("the spreadsheet shortened a number: give the column the format text, and write the number anew")
        return Mistake("key", "rounded", message)
    allowed = _JOINERS if key.startswith("name:") else ""
    found = next((letter for letter in key if _is_invisible(letter) and letter not in allowed), "")
    if found:
        message = _("holds an invisible character (U+%(code)s): write it anew") % {"code": f"{ord(found):04X}"}
        return Mistake("key", "invisible", message)
    return None


def text_meant(key: str) -> str:
    """Give what a text was before a program read its UTF-8 in another encoding; "" where it looks well."""
    for encoding in ("cp1252", "latin-1"):
        try:
            meant = key.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        return meant if meant != key else ""
    return ""


def _row(line: int, columns: list[str], cells: list[str]) -> TableRow:
    given = {name: cell for name, cell in zip(columns, cells, strict=False) if name}
    raw = given.get("key", "")
    if any(cell.strip() for name, cell in zip(columns, cells, strict=False) if not name):
        return TableRow(line, raw, {}, Mistake("", "too_many", _("a cell stands in a column without a name")))
    if len(cells) > len(columns) and any(cell.strip() for cell in cells[len(columns) :]):
        return TableRow(line, raw, {}, Mistake("", "too_many", _("the row has more cells than columns")))
    lists: dict[str, list[str] | None] = {}
    for name in filter(None, columns):
        cell = given.get(name, "")
        if cell.startswith("="):
            return TableRow(line, raw, {}, Mistake(name, "formula", _("begins like a formula; write `'=`")))
        if name != "key":
            names, mistake = _names(name, _unguarded(cell))
            if mistake is not None:
                return TableRow(line, raw, {}, mistake)
            lists[name] = names
    key = _unguarded(raw)
    mistake = _unreadable(key)
    if len(key) > NAME_LENGTH:
        mistake = Mistake("key", "too_long", _("is longer than %(limit)s characters") % {"limit": NAME_LENGTH})
    elif mistake is None and lists.get("allow") and lists.get("also_allow"):
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


def write_table(rules: Iterable[Any], *, mark: bool = True) -> Iterator[str]:
    """Write rules line by line, the header first; reading it again gives the same rules.

    Args:
        mark: begins with the mark of UTF-8, without which spreadsheets read another encoding.
    """
    buffer = io.StringIO()
    buffer.write(MARK if mark else "")
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
