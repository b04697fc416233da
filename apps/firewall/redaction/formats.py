"""Secrets that the form of a line or a number gives away: files that programs read, hashes, accounts, wallets."""

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import resources
from typing import Final

# --- .netrc: `machine host login user password secret`, on one line or several ---
NETRC_LOGIN: Final = re.compile(r"(?:machine\s{1,8}\S{1,256}|(?<![\w-])default)\s{1,8}(?:login|account|user)\s")
NETRC: Final = re.compile(r"(?<![\w-])password\s{1,8}(?P<secret>[^\s\"'=:]{1,512})")
# --- .pgpass: `host:port:database:user:secret`, one line each ---
PGPASS: Final = re.compile(
    r"(?m)(?<![^\s\"'])(?P<host>\*|[A-Za-z0-9_.-]{1,253}):(?:\*|[0-9]{4,5}):[^:\s]{1,128}:[^:\s]{1,128}:(?P<secret>[^:\s\"'][^\s\"']{0,511})$"
)
PGPASS_MARK: Final = re.compile(r":(?:\*|[0-9]{4,5}):[^:\s]{1,128}:[^:\s]{1,128}:[^:\s]")
_FILE_NAME: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}\Z")
_HOST_ENDINGS: Final = (
    ".test",
    ".com",
    ".net",
    ".org",
    ".io",
    ".dev",
    ".local",
    ".lan",
    ".cloud",
    ".app",
    ".de",
    ".cn",
    ".svc",
)
# --- hashes of passwords: /etc/shadow, htpasswd, Django ---
CRYPT: Final = re.compile(
    r"\$(?:1|2[abxy]?|5|6|7|y|gy|apr1|argon2(?:id|i|d)|scrypt|pbkdf2(?:-[a-z0-9]{1,8})?)\$(?P<secret>[./A-Za-z0-9$=,+-]{20,512})"
    r"|(?<![A-Za-z0-9_])(?:pbkdf2_[a-z0-9]{3,8}|argon2|scrypt|bcrypt(?:_sha256)?)\$(?P<django>[./A-Za-z0-9$=,+_-]{20,512})"
)
# --- international bank account numbers ---
IBAN: Final = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
)
_COUNTRIES: Final = {
    15: "NO",
    16: "BE",
    18: "DK FI FO GL NL",
    19: "MK SI",
    20: "AT BA EE KZ LT LU XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "PT ST",
    26: "IS TR",
    27: "FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HU LB PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU",
    31: "MT SC",
    32: "LC",
}  # by how many characters their account numbers have
IBAN_LETTERS: Final = {country: count for count, names in _COUNTRIES.items() for country in names.split()}
# --- statements of SQL and of PowerShell ---
STATEMENT: Final = re.compile(
    r"(?:(?<![a-z_])password(?:\s{1,4}|\s{0,4}\(\s{0,4})|identified(?:[ ]with[ ][\w\"'`]{1,40})?[ ]by\s{1,4}"
    r"|convertto-securestring\s{1,4}(?:-string\s{1,4})?)(?P<quote>['\"])(?P<secret>[^'\"\n]{1,512})(?P=quote)"
)
STATEMENT_NEEDS: Final = ("password", "identified", "securestring")
# --- words that open a wallet ---
WORDS_AT_LEAST: Final = 12
WALLET_WORDS: Final = frozenset({12, 15, 18, 21, 24})
DIFFERENT_AT_LEAST: Final = 8  # of more words than that: a text that says one word again and again opens nothing
_TWELVE: Final = b"\x01" * WORDS_AT_LEAST
_LETTERS: Final = re.compile(r"[a-z]+")
_BETWEEN: Final = re.compile(r"[\s\d.,;:)\"'\[\]-]{1,12}")
_NOT_LETTERS: Final = {code: " " for code in range(128) if not chr(code).isalpha()}
# --- `name=secret` as base64 ---
BASE64_AT_LEAST: Final = 16
BASE64_AT_MOST: Final = 4096
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_PRINTED: Final = re.compile(r"[\t\n\r\x20-\x7e]+")
_NAMED: Final = re.compile(
    r"(?i)(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)"
    r"[\"']?\s{0,4}[=:]\s{0,4}[\"']?[^\s\"']{3,}"
)


def file_spans(low: str) -> Iterator[tuple[int, int, str]]:
    """Say where lines of `.netrc` hold passwords."""
    if "login" in low and "password" in low and NETRC_LOGIN.search(low):
        yield from ((*match.span("secret"), "netrc") for match in NETRC.finditer(low))


def statement_spans(low: str) -> Iterator[tuple[int, int, str]]:
    """Say where statements of SQL and of PowerShell set passwords."""
    for word in STATEMENT_NEEDS:
        if word in low:
            yield from ((*match.span("secret"), "statement") for match in STATEMENT.finditer(low))
            return


def line_spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Say where lines of `.pgpass` and hashes of passwords stand."""
    if ":" in text and PGPASS_MARK.search(text):
        for match in PGPASS.finditer(text):
            if _is_host(match["host"]):
                yield (*match.span("secret"), "pgpass")
    if "$" in text:
        for match in CRYPT.finditer(text):
            yield (*match.span("secret" if match["secret"] else "django"), "password_hash")


def has_lines(text: str) -> bool:
    """Say whether `line_spans` may find something."""
    return (":" in text and PGPASS_MARK.search(text) is not None) or ("$" in text and CRYPT.search(text) is not None)


def _is_host(host: str) -> bool:
    low = host.lower()
    if low in {"*", "localhost"} or low.endswith(_HOST_ENDINGS) or re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}", low):
        return True
    return not _FILE_NAME.search(low) and not re.fullmatch(r"[0-9a-f]+", low) and not low.isdigit()


def account_spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Say where international bank account numbers stand.

    Source: ISO 13616-1 (form, check digits by ISO 7064 mod 97-10).
    """
    for match in IBAN.finditer(text):
        length = _account_length(match[0])
        if length is not None:
            yield match.start(), match.start() + length, "bank_account"


def _account_length(shown: str) -> int | None:
    """Count the characters of the account number that a text begins with."""
    wanted = IBAN_LETTERS.get(shown[:2])
    if wanted is None:
        return None
    places = [place for place, letter in enumerate(shown, 1) if letter.isalnum()][:wanted]
    length = places[-1]
    letters = "".join(shown[place - 1] for place in places)
    if len(letters) != wanted or shown[length : length + 1].isalnum():
        return None
    return length if int("".join(str(int(letter, 36)) for letter in letters[4:] + letters[:4])) % 97 == 1 else None


@lru_cache(maxsize=1)
def wallet_words() -> frozenset[str]:
    """Read the words of BIP-39.

    Source: BIP-0039, English; the list is the one of the package `mnemonic`.
    """
    return frozenset(resources.files("mnemonic").joinpath("wordlist/english.txt").read_text("ascii").split())


def may_open_wallet(low: str) -> bool:
    """Say whether twelve words of the list follow one another: told fast, and never less than `wallet_spans` finds."""
    if low.count(" ") + low.count("\n") + low.count(",") < WORDS_AT_LEAST - 1:
        return False
    is_known = bytes(map(wallet_words().__contains__, low.translate(_NOT_LETTERS).split()))
    return is_known.find(_TWELVE) >= 0


def wallet_spans(low: str) -> Iterator[tuple[int, int, str]]:
    """Say where twelve words or more of a wallet follow one another, numbered or in a list, too."""
    if not may_open_wallet(low):
        return
    known = wallet_words()
    run: list[tuple[int, int]] = []
    for match in _LETTERS.finditer(low):
        if run and (match[0] not in known or not _BETWEEN.fullmatch(low, run[-1][1], match.start())):
            yield from _wallet(run, low)
            run = []
        if match[0] in known:
            run.append(match.span())
    yield from _wallet(run, low)


def _wallet(run: list[tuple[int, int]], low: str) -> Iterator[tuple[int, int, str]]:
    if len(run) >= WORDS_AT_LEAST and _opens([low[start:end] for start, end in run]):
        yield run[0][0], run[-1][1], "wallet_words"


def _opens(words: Sequence[str]) -> bool:
    """Say whether words of the list may open a wallet: as many as wallets have, or many different ones."""
    return len(words) in WALLET_WORDS or (len(words) > WORDS_AT_LEAST and len(set(words)) >= DIFFERENT_AT_LEAST)


def is_wallet(items: list[object]) -> bool:
    """Say whether a list of texts is the words of a wallet, one an item."""
    if len(items) < WORDS_AT_LEAST:
        return False
    known = wallet_words()
    words = [item.lower() for item in items if isinstance(item, str)]
    return len(words) == len(items) and known.issuperset(words) and _opens(words)


def hides_named_value(run: str) -> bool:
    """Say whether a run of letters is the base64 of a text that names a secret and its value."""
    if not BASE64_AT_LEAST <= len(run) <= BASE64_AT_MOST or not _BASE64.fullmatch(run):
        return False
    plain = run.rstrip("=").replace("-", "+").replace("_", "/")
    if plain.islower() or plain.isupper() or len(plain) % 4 == 1:
        return False
    try:
        decoded = base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return _PRINTED.fullmatch(decoded) is not None and _NAMED.search(decoded) is not None
