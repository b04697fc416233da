"""Rules that no name needs: tokens, addresses, numbers, lines and commands that their own form gives away."""

import re
from collections.abc import Callable, Iterator

from apps.firewall.redaction import commands, formats, programs, rules
from apps.firewall.redaction.entropy import LENGTH_AT_LEAST, is_mixed, looks_random
from apps.firewall.redaction.placeholders import is_variable
from apps.firewall.redaction.scan import Scan, Span, groups

_STATUS = re.compile("10[0-3]|[2-5][0-9]{2}")  # of an answer over HTTP: `?code=404`
_NO_NAME_LETTERS = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) in "_-.")}


def _private_keys(scan: Scan) -> Iterator[Span]:
    at = 0
    while (begin := rules.PEM_BEGIN.search(scan.text, at)) is not None:
        end = rules.PEM_END.search(scan.text, begin.end())
        # Without an end everything that follows may be the key.
        at = len(scan.text) if end is None else end.end()
        yield begin.start(), at, "private_key"


def _bearers(scan: Scan) -> Iterator[Span]:
    if "bearer" in scan.low:
        yield from groups(rules.BEARER, scan.low, "bearer")
    if "basic" in scan.low:
        yield from groups(rules.BASIC, scan.low, "basic_credentials")


def _queries(scan: Scan) -> Iterator[Span]:
    if "=" in scan.text and scan.has(rules.QUERY_NEEDS):
        for match in rules.QUERY.finditer(scan.low):
            if not _is_plain_query(match):
                yield (*match.span("secret"), "query")


def _is_plain_query(match: re.Match[str]) -> bool:
    """Say whether a short word of a query is a code of an error, the name of a database, a security identifier."""
    name, value = match[0][: -len(match["secret"]) - 1].lstrip("?&;"), match["secret"]
    if name in {"code", "pin", "otp"}:
        return value.isdigit() and (len(value) < 3 or _STATUS.fullmatch(value) is not None)
    return name == "sid" and (len(value) < 16 or value.startswith("s-1-"))


def _addresses(scan: Scan) -> Iterator[Span]:
    if "://" in scan.text and "@" in scan.text:
        yield from groups(rules.URL_PASSWORD, scan.text, "url_password")
        yield from groups(rules.URL_USER, scan.text, "url_password")
    if scan.has(rules.WEBHOOK_NEEDS):
        for match in rules.WEBHOOK.finditer(scan.text):
            before = rules.ADDRESS_BEFORE.search(scan.text, max(0, match.start() - 96), match.start())
            yield before.start() if before else match.start(), match.end(), "webhook"


def _vendor_tokens(scan: Scan) -> Iterator[Span]:
    for run in rules.RUN.finditer(scan.text):
        yield from _tokens_of_run(scan.text, *run.span())


def _tokens_of_run(text: str, start: int, end: int) -> list[Span]:
    tokens = [(*match.span(), "vendor_token") for match in rules.VENDOR.finditer(text, start, end)]
    tokens += _web_tokens(text, start, end)
    if end - start >= rules.AWS_SECRET_LETTERS:
        found = rules.AWS_SECRET.finditer(text, start, end)
        tokens += [(*match.span(), "aws_secret") for match in found if _is_aws_secret(match[0])]
    if not tokens and end - start >= LENGTH_AT_LEAST and looks_random(text[start:end]):
        tokens = [] if rules.INTEGRITY.match(text, start, end) else [(start, end, "random")]
    if not tokens and end - start >= formats.BASE64_AT_LEAST:
        tokens = [(*place, "base64") for place in _base64_runs(text, start, end)]
    return tokens


def _is_aws_secret(run: str) -> bool:
    return is_mixed(run, digits_at_least=0 if "+" in run else 1)


def _base64_runs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if formats.hides_named_value(text[start:end]):
        yield start, end
        return
    at = text.rfind("=", start, end - 3) + 1  # `name=base64`, `name==` is its own end
    if start < at < end - formats.BASE64_AT_LEAST and formats.hides_named_value(text[at:end]):
        yield at, end


def run_is_plain(run: str) -> bool:
    """Say whether a run of letters that tokens are made of holds none; it stands alone in its text."""
    if len(run) < formats.BASE64_AT_LEAST and "eyJ" not in run:
        return rules.VENDOR.search(run) is None
    return not _tokens_of_run(run, 0, len(run))


def _web_tokens(text: str, start: int, end: int) -> list[Span]:
    if text.find("eyJ", start, end) < 0:
        return []
    found = rules.JSON_WEB_TOKEN.finditer(text, start, end)
    return [(*match.span(), "web_token") for match in found if match["more"]]


def _bot_tokens(scan: Scan) -> Iterator[Span]:
    if ":" not in scan.text:
        return
    for tail in rules.BOT_TOKEN_TAIL.finditer(scan.text):
        head = scan.text[max(0, tail.start() - 32) : tail.start()]
        digits = len(head) - len(head.rstrip("0123456789"))
        if digits >= 5:
            yield tail.start() - digits, tail.end(), "bot_token"


def _programs(scan: Scan) -> Iterator[Span]:
    words = scan.low.translate(_NO_NAME_LETTERS).split()
    if programs.NAMES.isdisjoint(words) and not scan.has(programs.NEEDS):
        return
    for start, end in commands.spans(scan.text, scan.low):
        if not is_variable(scan.text, start):
            yield start, end, "program_option"


def _piped(scan: Scan) -> Iterator[Span]:
    if scan.has(commands.PIPED_NEEDS):
        for start, end in commands.piped_spans(scan.text, scan.low):
            if not is_variable(scan.text, start):
                yield start, end, "piped"


def _lines(scan: Scan) -> Iterator[Span]:
    yield from formats.line_spans(scan.text)
    yield from formats.account_spans(scan.text)
    yield from formats.statement_spans(scan.low)
    yield from formats.wallet_spans(scan.low)


RULES: tuple[Callable[[Scan], Iterator[Span]], ...] = (
    _private_keys,
    _bearers,
    _queries,
    _addresses,
    _vendor_tokens,
    _bot_tokens,
    _programs,
    _piped,
    _lines,
)


def _pairs(scan: Scan) -> Iterator[Span]:
    if "=" not in scan.text:
        return
    for match in rules.PAIR.finditer(scan.low):
        if rules.PAIR_NAME.fullmatch(match["name"].replace("-", "_")) and not _is_plain_query(match):
            yield (*match.span("secret"), "query")


def _aws_secrets(scan: Scan) -> Iterator[Span]:
    for match in rules.AWS_SECRET.finditer(scan.text):
        if _is_aws_secret(match[0]):
            yield (*match.span(), "aws_secret")


def _signatures(scan: Scan) -> Iterator[Span]:
    if "authorization" in scan.low:
        yield from groups(rules.AUTH_PAIRS, scan.low, "header", group="value")


# What holds beside the patterns of an installation, too.
ALWAYS: tuple[Callable[[Scan], Iterator[Span]], ...] = (_pairs, _aws_secrets, _signatures)
