"""What stands after the name of a secret and is none: references, placeholders, types, messages."""

import re
from typing import Final

from apps.firewall.redaction.entropy import is_mixed

# Matched where the value begins, in the text as it is.
REFERENCE: Final = re.compile(
    r"\$[A-Z_][A-Z0-9_]*(?![A-Za-z0-9])|\$\((?=[a-z])|\$env:\w+|\{\{"
    r"|<[A-Za-z][A-Za-z _-]{0,40}>|\*{3,}(?![^\s\"'`\\])|\.{3}"
    r"|%s|%\(\w+\)s|%[A-Z_]{2,}%|\[(?:redacted|REDACTED|\^)|\.\*"
    r"|(?:os\.environ|os\.getenv|process\.env|getenv|System\.getenv|env\.|secrets\.|getpass|config\[|settings\.)"
    r"|[a-z_]+(?:\.[a-z_]+){0,4}\(\)|[a-z_]{2,30}\((?:[\"'][^\"'\n]{0,80}[\"'])?\)"
)
VARIABLE: Final = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_.]*\}|\$[A-Za-z_]\w*(?!\w)")
TYPE: Final = re.compile(
    r"(?:str|string|text|bytes|int|number|bool|boolean|null|none|undefined|true|false|nil|any|secretstr|optional\[\w+\]|varchar\(\d+\))"
    r"(?=[\s;,)\]}|?]|\Z)",
    re.IGNORECASE,
)
CONSTANT: Final = re.compile(r"(?:null|true)(?=[\s;,)\]}|?&]|\Z)")
# After a colon and a blank, in small letters: what programs say of a field.
MESSAGE: Final = re.compile(
    r"(?:permission denied|no such file|(?:is|not) a directory|not found|command not found|operation not permitted"
    r"|input/output error|file exists|too (?:short|long|weak|common|many|old)|"
    r"(?:ok|failed|required|incorrect|invalid|missing|expired|must|should|cannot|can't|could not|expected|unexpected"
    r"|authentication"
    r"|password (?:updated|changed|unchanged|expired|required|is)"
    r"|updated|changed|unchanged|denied|wrong|empty|unknown|unset|none|disabled|enabled|revoked"
    r"|erforderlich|falsch|ungültig|abgelaufen|obligatoire|incorrect|invalide|expiré|obligatori[oa]|incorrect[oa]"
    r"|inválid[oa]|obrigatóri[oa]|incorret[oa]|wymagane|обязательн\w*|неверн\w*|истёк|已过期|已過期|错误|不能为空|必填|无效"
    r"|必須|無効|필수)(?![\w-])|pem [a-z]|ascii text|openssh [a-z]|data(?=\s|\Z))"
)
LONG_ENOUGH: Final = 6
SURELY_LONG_ENOUGH: Final = 8
MIXED_FROM: Final = 12
CODE_DIGITS: Final = 4
LETTER_AND_DIGIT: Final = re.compile(r"(?=.*[0-9])(?=.*[^\W\d_])", re.DOTALL)
TERMS: Final = frozenset({"base64", "sha256", "sha512", "oauth2", "pkcs12", "ed25519"})
# `pass: 12`, and longer counts where others follow: `pass: 120, fail: 3`
COUNT: Final = re.compile(r"[0-9]{1,2}(?![\w.])|[0-9]{1,6}(?=[ ,;/]{1,3}(?:fail|skip|error|total|warn|xfail)\w{0,6}\b)")
# Words as names of columns, sorts and keys are: `id`, `byName`, `userID`, `Up`.
ODD: Final = re.compile(r"\$\{\w|\*{3}|\w+(?:@\w+\Z|'\w{2}|\\)")
JOINTS: Final = re.compile(r"[=+/_.-]+")
_CAPITALISED: Final = r"(?:[A-Z][a-z]{2,}|At|By|Id|In|Is|No|Of|On|To|Up)"
WORD: Final = re.compile(rf"[A-Z]?[a-z]+{_CAPITALISED}*[A-Z]{{0,3}}|[A-Z]{{2,6}}[a-z]{{2,}}{_CAPITALISED}*|[A-Z]+")


def is_placeholder(text: str, at: int) -> bool:
    """Say whether what begins here stands for a secret and is none: `$NAME`, `<your token>`, `os.environ[…]`.

    `${NAME}` counts as a value behind a name, as in OpenClaw's own masking; `is_variable` tells of a command's words.
    """
    return REFERENCE.match(text, at) is not None


def is_variable(text: str, at: int) -> bool:
    """Say whether what begins here is a placeholder or a variable of a shell: `$NAME`, `${NAME}`."""
    return VARIABLE.match(text, at) is not None or is_placeholder(text, at)


def is_message(low: str, at: int) -> bool:
    """Say whether what begins here, after a colon and a blank, is a message or a type: `required`, `str`."""
    return low[at - 1 : at].isspace() and (MESSAGE.match(low, at) is not None or TYPE.match(low, at) is not None)


def is_constant(text: str, at: int) -> bool:
    """Say whether `null` or `true` begins here. Behind the plain name of a secret OpenClaw masks them, too."""
    return CONSTANT.match(text, at) is not None


def looks_secret(value: str) -> bool:
    """Say whether a bare word looks like a secret rather than like a word: letters and digits, or a code of digits."""
    value = value.strip("\"'`.,;:!?()")
    if len(value) < LONG_ENOUGH or value.isdigit():
        return value.isdigit() and len(value) >= CODE_DIGITS
    return "/" not in value and LETTER_AND_DIGIT.match(value) is not None and value.lower() not in TERMS


def is_odd(value: str) -> bool:
    """Say whether a word behind the name of a key of unknown kind is none of a table, a map or a sort.

    Odd are digits within letters, numbers of three digits and more, mixed cases, quotes and signs as in `p@ss` and
    `it's`, and what OpenClaw masks besides: `null`, `true` and `${NAME}`.
    """
    value = value.partition("&")[0].rstrip("`.,;:!?()")
    if CONSTANT.fullmatch(value) is not None or ODD.match(value) is not None:
        return True
    if value.isdigit():
        return len(value) >= CODE_DIGITS - 1
    if looks_secret(value) and (len(value) >= SURELY_LONG_ENOUGH or value.isalnum()):
        return True
    if len(value) >= MIXED_FROM and is_mixed(value, digits_at_least=0):
        return True
    if not value.isascii() or value.islower():
        return False
    return any(part.isalpha() and WORD.fullmatch(part) is None for part in JOINTS.split(value))
