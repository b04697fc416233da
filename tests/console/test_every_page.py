"""What every page keeps, asked of every page: the list is the table of URLs, so that none is forgotten.

The installation of tests/seeded.py has an object for each path. A new page needs a line in tests/doors.py, and one in
tests/seeded.py where it takes an argument that no other path has.
"""

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import Resolver404, get_resolver, resolve

from apps.firewall.engine.layers import LAYERS
from tests.doors import ANYBODY, CONSOLE, NOBODY
from tests.markup import Element, read
from tests.seeded import Seeded, seed

pytestmark = [pytest.mark.django_db, pytest.mark.unhurried]  # long: it begins first
PAGES = [name for name, (get, _) in CONSOLE.items() if get != NOBODY]
QUERIES = 25
FIRST_LOAD_BYTES = 300_000
ELSEWHERE = re.compile(r"^(https?:)?//")
# Answers other than a page: it leads on at once, or has nothing new to say.
STATUS = {
    "account_logout": 302,
    "set_language": 302,
    "record-page": 302,
    "audit-new": 204,
    "publish-review": 302,
    "publish-replay": 302,  # a part of the review, which it leads to
    "publish-replay-check": 302,
    "publish-button": 302,
    "unmatched-count": 302,  # a part of the page of rules that never match
    "promote-blast": 302,
    "snapshot-diff": 302,  # without two snapshots to compare
    "snapshot-diff-blast": 404,
    "guardrail": 404,  # none here; tests of its page have one
    "audit-integrity-witness-stamp": 404,  # the witness of this installation is a file, which stamps nothing
}
# Forms that nothing but a script can send, by id: a browser subscribes by its own, the palette brings the buttons.
BY_SCRIPT = {"push-form", "palette-sign-out", "palette-environment", "palette-language"}
# Parts that fill a place as they are, in more elements than one.
MANY_ROOTS = {"audit-call", "approval-coverage", "agent-senders", "global-senders", "group-senders"}
# Actions whose forms show at another moment than that of the crawl, and the file of tests that sends them.
OF_OTHER_MOMENTS = {
    "account_signup": "console/test_sign_in.py",
    "answering-deputy-remove": "approvals/test_answering.py",
    "audit-export-stream-retry": "console/test_audit_streams.py",
    "audit-integrity-witness-retry": "console/test_audit_integrity.py",
    "audit-retention-erase": "console/test_audit_retention.py",
    "audit-retention-purge": "console/test_audit_retention.py",
    "environment-choose": "console/test_settings.py",
    "bulk-start": "console/test_bulk_edits.py",
    "export-cancel": "api/test_audit_exports.py",
    "global-discard": "console/test_global.py",
    "grant-narrow": "console/test_grants.py",
    "group-discard": "console/test_groups.py",
    "guardrail-accept": "console/test_guardrails.py",
    "guardrail-remove": "console/test_guardrails.py",
    "limit-breaker-close": "console/test_limits.py",
    "notification-browser-remove": "notifications/test_page.py",
    "profile-discard": "console/test_profiles.py",
    "publish-confirm": "console/test_publish_requests.py",
    "publish-withdraw": "console/test_publish_requests.py",
    "suggestion-take": "console/test_suggestions.py",
    "unmatched-remove": "console/test_unmatched.py",
    "session-reopen": "console/test_sessions.py",
    "snapshot-accept": "console/test_snapshots_by_two.py",
    "snapshot-rollback": "console/test_snapshots.py",
    "start-demo": "console/test_start.py",
    "start-connect": "console/test_first_steps.py",
    "start-empty": "console/test_start.py",
    "start-release": "console/test_first_steps.py",
    "start-skip": "console/test_first_steps.py",
    "user-session-close": "console/test_users.py",
    "workspace-remove": "console/test_sandbox.py",
}


@dataclass(frozen=True)
class Answer:
    """What a page said."""

    path: str
    status: int
    kind: str
    policy: str
    text: str
    queries: int

    @property
    def root(self) -> Element:
        return _tree(self.text)

    @property
    def is_html(self) -> bool:
        return self.kind.startswith("text/html") and self.status < 300

    @property
    def is_page(self) -> bool:
        return self.is_html and "<html" in self.text


@cache
def _tree(text: str) -> Element:
    return read(text)


@dataclass(frozen=True)
class Site:
    """Every page in both languages, the parts that pages fetch, and what people entered."""

    english: dict[str, Answer]
    chinese: dict[str, Answer]
    parts: dict[str, Answer]
    entered: str


_kept: dict[str, Site] = {}
_failed: list[str] = []


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Site:
    """Ask for every page once; each test of this file then looks at the answers."""
    if _failed:
        pytest.fail("no installation could be made; see the first of these")
    if "site" not in _kept:
        _failed.append("while it is made")
        seeded, person = seed(request), request.getfixturevalue("admin")
        chinese, english = ({name: _asked(name, seeded, person, word) for name in PAGES} for word in ("zh-hans", "en"))
        _kept["site"] = Site(english, chinese, _parts(english, person), _entered())
        _failed.clear()
    return _kept["site"]


def _browser(name: str, person: Any) -> Client:
    browser = Client(raise_request_exception=False)
    if CONSOLE[name][0] != ANYBODY:
        browser.force_login(person)
    return browser


def _asked(name: str, seeded: Seeded, person: Any, language: str) -> Answer:
    path = seeded.path(name)
    person.language = language
    person.save(update_fields=["language"])
    browser = _browser(name, person)
    answer = _get(browser, path, {"Accept-Language": language})
    if answer.queries > QUERIES:  # a changed draft is compiled once, a ledger followed to its end once
        answer = _get(browser, path, {"Accept-Language": language})
    return answer


def _get(browser: Client, path: str, headers: dict[str, str]) -> Answer:
    with CaptureQueriesContext(connection) as caught:
        answer = browser.get(path, headers=headers)
        body = answer.getvalue() if answer.streaming else answer.content
    kind, policy = (answer.headers.get(name, "") for name in ("Content-Type", "Content-Security-Policy"))
    text = body.decode("utf-8", "replace") if kind.startswith("text/") else ""
    return Answer(path, answer.status_code, kind, policy, text, len(caught))


def _parts(pages: dict[str, Answer], person: Any) -> dict[str, Answer]:
    """Ask for what each page fetches, once for each URL by name."""
    wanted = {name_of(path): path for page in pages.values() for path in _fetched(page)}
    return {
        name: _get(_browser(name, person), path, {"HX-Request": "true", "HX-Target": "main"})
        for name, path in wanted.items()
        if name in CONSOLE
    }


def _fetched(page: Answer) -> Iterator[str]:
    if page.is_html:
        yield from (urljoin(page.path, each.get("hx-get")) for each in page.root.walk() if each.get("hx-get"))


def _entered() -> str:
    """Everything that stands in the database, as one text in small letters."""
    with connection.cursor() as cursor:
        texts = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT to_jsonb(t)::text FROM "{table}" t')
            texts += [row[0] for row in cursor.fetchall()]
    return "\n".join(texts).lower()


def name_of(path: str) -> str:
    try:
        return resolve(urlsplit(path).path).url_name or ""
    except Resolver404:
        return ""


@pytest.mark.parametrize("name", PAGES)
def test_it_answers(name: str, site: Site) -> None:
    page = site.english[name]
    assert page.status == STATUS.get(name, 200), page.path


@pytest.mark.parametrize("name", PAGES)
def test_it_takes_few_queries(name: str, site: Site) -> None:
    assert site.english[name].queries <= QUERIES


@pytest.mark.parametrize("name", PAGES)
def test_its_policy_is_strict_and_it_keeps_to_it(name: str, site: Site) -> None:
    page = site.english[name]
    assert "default-src 'none'" in page.policy and "unsafe" not in page.policy
    bad = []
    for each in page.root.walk() if page.is_html else ():
        if each.tag == "style" or "style" in each.attributes:
            bad.append(each.shown())
        if each.tag == "script" and not each.get("src") and each.get("type") != "application/json":
            bad.append(each.shown())
        if any(key.startswith("on") for key in each.attributes):
            bad.append(each.shown())
    assert bad == []


@pytest.mark.parametrize("name", PAGES)
def test_it_refers_to_no_other_host(name: str, site: Site) -> None:
    referring = ("src", "href", "action", "formaction", "hx-get", "hx-post", "srcset", "poster")
    page = site.english[name]
    found = [each.shown() for each in page.root.walk() for key in referring if ELSEWHERE.match(each.get(key))]
    assert found == []


@pytest.mark.parametrize("name", PAGES)
def test_its_first_load_is_small(name: str, site: Site) -> None:
    page = site.english[name]
    referred = {each.get("src") for each in page.root.all("script", "img")}
    referred |= {each.get("href").partition("#")[0] for each in page.root.all("link", "use")}
    sizes = [_compressed(path) for path in referred] + [_fonts(path, frozenset(page.text)) for path in referred]
    assert len(gzip.compress(page.text.encode())) + sum(sizes) <= FIRST_LOAD_BYTES


def _file(path: str) -> Path | None:
    found = finders.find(urlsplit(path).path.removeprefix(settings.STATIC_URL)) if path else None
    return Path(found) if isinstance(found, str) else None


@cache
def _compressed(path: str) -> int:
    file = _file(path)
    return 0 if file is None else len(gzip.compress(file.read_bytes()))


@cache
def _fonts(path: str, letters: frozenset[str]) -> int:
    """Give the size of the fonts of a sheet that a page with these letters needs; fonts are compressed already."""
    file = _file(path)
    if file is None or file.suffix != ".css":
        return 0
    size = 0
    for face in re.findall(r"@font-face\s*{(.*?)}", file.read_text(), re.DOTALL):
        ranges = re.findall(r"U\+([0-9A-F]+)(?:-([0-9A-F]+))?", face)
        spans = [range(int(first, 16), int(last or first, 16) + 1) for first, last in ranges]
        if not spans or any(ord(letter) in span for span in spans for letter in letters):
            url = re.search(r"url\([\"']?([^)\"']+)", face)
            font = _file(urljoin(path, url[1])) if url else None
            size += font.stat().st_size if font else 0
    return size


@pytest.mark.parametrize("name", PAGES)
def test_its_forms_work_without_scripts(name: str, site: Site) -> None:
    page = site.english[name]
    wrong = []
    for form in page.root.all("form"):
        action = urljoin(page.path, form.get("action"))
        method = form.get("method").upper()
        reached = name_of(action)
        buttons = [each for each in page.root.walk() if _sends(each) and _form_of(each, page.root) is form]
        csrf = any(each.get("name") == "csrfmiddlewaretoken" for each in form.all("input"))
        if method not in {"GET", "POST"} | ({"DIALOG"} if form.within("dialog") else set()):
            wrong.append((form.shown(), "has no method"))
        elif method != "DIALOG" and (reached not in CONSOLE or CONSOLE[reached][method == "POST"] == NOBODY):
            wrong.append((form.shown(), f"{method} {action} is nothing"))
        if (method == "POST") != csrf:
            wrong.append((form.shown(), "and its token against forgery"))
        fields = [each for each in form.all("input", "select", "textarea") if each.get("type") != "hidden"]
        sends_itself = method == "GET" and len(fields) == 1  # the key Enter does
        if not buttons and not sends_itself and form.get("id") not in BY_SCRIPT:
            wrong.append((form.shown(), "nothing sends it"))
        is_sent_by_it = "submit" in (form.get("hx-trigger") or "submit")  # else it tries what is typed
        if form.get("hx-post") and is_sent_by_it and urljoin(page.path, form.get("hx-post")) != action:
            wrong.append((form.shown(), "hx-post is not its action"))
    assert wrong == []


def _sends(each: Element) -> bool:
    kind = each.get("type")
    return (each.tag == "button" and kind in {"", "submit"}) or (each.tag == "input" and kind in {"submit", "image"})


def _form_of(each: Element, root: Element) -> Element | None:
    if each.get("form"):
        return next((form for form in root.all("form") if form.get("id") == each.get("form")), None)
    place: Element | None = each
    while place is not None and place.tag != "form":
        place = place.parent
    return place


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.slow
def test_what_it_fetches_and_where_that_goes_exist(name: str, site: Site) -> None:
    page = site.english[name]
    ids = {each.get("id") for each in page.root.walk()}
    if not page.is_page:  # a part goes into a page
        ids |= {each.get("id") for other in site.english.values() if other.is_page for each in other.root.walk()}
    wrong = []
    for each in page.root.walk():
        for key, place in (("hx-get", 0), ("hx-post", 1)):
            reached = name_of(urljoin(page.path, each.get(key)))
            if each.get(key) and (reached not in CONSOLE or CONSOLE[reached][place] == NOBODY):
                wrong.append((each.shown(), f"{key} is nothing"))
        for key in ("hx-target", "hx-include", "hx-select"):
            for selector in each.get(key).split(","):
                found = re.fullmatch(r"#([\w:.-]+)", selector.strip())
                if found and key != "hx-select" and found[1] not in ids:
                    wrong.append((each.shown(), f"{key} is not in the page"))
    assert wrong == []


def test_what_pages_fetch_is_a_part_with_one_root(site: Site) -> None:
    wrong = {}
    for name, part in site.parts.items():
        roots = [
            each for each in part.root.children if each.tag != "hx-partial" and "hx-swap-oob" not in each.attributes
        ]
        if part.is_page:
            wrong[name] = ["a whole page"]
        elif part.is_html and part.text.strip() and name not in MANY_ROOTS and len(roots) > 1:
            wrong[name] = [each.shown() for each in roots]
    assert wrong == {}


def test_each_action_has_its_form_on_a_page(site: Site) -> None:
    reached = {
        name_of(urljoin(page.path, each.get(key)))
        for page in [*site.english.values(), *site.parts.values()]
        for each in page.root.walk()
        for key in ("action", "formaction", "hx-post")
        if key in each.attributes or (key == "action" and each.tag == "form")
    }
    missing = {name for name, (_, post) in CONSOLE.items() if post != NOBODY} - reached
    assert missing <= set(OF_OTHER_MOMENTS), "no page of tests/seeded.py has a form for these"


@pytest.mark.parametrize("name", OF_OTHER_MOMENTS)
def test_an_action_of_another_moment_is_sent_by_a_test(name: str) -> None:
    file = Path(settings.BASE_DIR) / "tests" / OF_OTHER_MOMENTS[name]
    pattern = next(iter(get_resolver().reverse_dict.getlist(name)))[0][0][0]
    words = [word for word in re.split(r"%\([^)]*\)s|/", str(pattern)) if word]
    assert words[-1] in file.read_text()


# --- Chinese ---

# Two words in a row are a piece of a sentence; machine words are joined by other signs than a space.
WORDS = re.compile(r"(?<![\w.:/_-])[A-Za-z]{2,}(?:['’-][a-z]+)*(?: [A-Za-z]{2,}(?:['’-][a-z]+)*)+(?![\w.:/_-])")
READ_ALOUD = ("aria-label", "title", "placeholder", "alt", "data-failed", "data-label", "data-l")
AS_IT_IS = ("code", "pre", "kbd", "samp", "script", "textarea")
# Names: of products and formats, of layers as calls record them, of members of records as the document has them.
NAMES = {
    *("openclaw admin", "openclaw gateway", "json schema", "openai responses"),
    *(layer.label.lower() for layer in LAYERS.values()),
    *(
        "webhook pager",
        "utc admin",
        "whatsapp drivers",
        "gateway sender owner-only tools",
        "labels export",
        "denied by",  # a reason, as the ledger has it
    ),  # beside what was entered
}
MEMBERS = re.compile(r"(allow|deny|where|action|agent|permissions|pattern|profile) ")


@pytest.mark.parametrize("name", PAGES)
def test_it_is_chinese_in_chinese(name: str, site: Site) -> None:
    entered, left = site.entered, set[str]()
    for text in _said(site.chinese[name]):
        for words in map(str.lower, WORDS.findall(text)):
            if words not in NAMES and words not in entered and not MEMBERS.match(words):
                left.add(words)
    assert left == set()


def _said(page: Answer) -> Iterator[str]:
    for each in page.root.walk() if page.is_html else ():
        is_of_machines = each.within(*AS_IT_IS) or "mono" in each.get("class").split()
        if not is_of_machines and each.get("lang") != "en":
            yield from each.texts
        yield from (each.get(key) for key in READ_ALOUD if each.get(key))
        if each.tag == "input" and each.get("type") in {"submit", "button"}:
            yield each.get("value")
