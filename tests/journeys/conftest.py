"""A real server on a database of its own, a real browser, and people who sign in."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx
import psycopg
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from bench._installation import drop_database
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "apps" / "policies" / "demo"
START_S = 480
AXE_OPTIONS = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
LOOKS = (("light", 1440, 1000), ("dark", 1440, 1000), ("light", 390, 844))


@dataclass
class Installation:
    """One served copy of the product: its address, its commands, and its first people."""

    url: str
    environment: dict[str, str]
    owner_url: str
    var: Path
    passwords: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def token(self, *scopes: str) -> str:
        made = self.manage("create_token", "--name", "journey", "--scopes", ",".join(scopes))
        found = re.search(r"oca_\w+", made)
        assert found is not None, made
        return found[0]


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    """Serve an empty installation for the journeys of one file."""
    name = f"journey_{os.getpid()}_{time.monotonic_ns() % 10**9}"
    owner, application = os.environ["DATABASE_OWNER_URL"], os.environ["DATABASE_URL"]
    var = Path(tempfile.mkdtemp(prefix="oca-journey-"))
    _run_sql(owner, f'CREATE DATABASE "{name}"')
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {name: value for name, value in os.environ.items() if name != "OPENCLAW_ADMIN_TESTING"} | {
        "DATABASE_URL": _on_database(application, name),
        "DATABASE_OWNER_URL": _on_database(owner, name),
        "OPENCLAW_ADMIN_VAR": str(var),
        "PUBLIC_URL": url,
    }
    served = Installation(url, environment, environment["DATABASE_OWNER_URL"], var)
    log = var / "serve.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", str(port)],
            cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        )  # fmt: skip
    served.process = process
    try:
        _wait_until_ready(url, process, log)
        served.passwords = dict(re.findall(r"^ {4}(\w+) +(\S+)$", log.read_text(), re.MULTILINE))
        yield served
    finally:
        process.terminate()
        process.wait(30)
        drop_database(owner, name)
        shutil.rmtree(var, ignore_errors=True)


def _on_database(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def _run_sql(url: str, statement: str) -> None:
    with psycopg.connect(_on_database(url, "postgres"), autocommit=True) as connection:
        connection.execute(statement.encode())


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url}/healthz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError(f"the server did not start:\n{log.read_text(errors='replace')}")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Run the system's Chromium when there is one; as root it has no sandbox of its own."""
    system = shutil.which("chromium")
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-gpu"]
    arguments = [*quiet, "--no-first-run", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    return {**browser_type_launch_args, "args": arguments, **({"executable_path": system} if system else {})}


# A loaded machine is slow; what is expected is waited for, and costs nothing where it is there.
expect.set_options(timeout=30_000)


@dataclass
class Visitor:
    """One person at one browser."""

    page: Page
    url: str
    problems: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        self.page.goto(self.url + path)
        return self.page

    def check_access(self) -> None:
        """Hold the page against WCAG 2.2 AA in light, dark and on a phone."""
        for scheme, width, height in LOOKS:
            self.page.set_viewport_size({"width": width, "height": height})
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            self.page.wait_for_timeout(150)  # the theme script answers the media query
            found = Axe().run(self.page, options=AXE_OPTIONS).response["violations"]
            shown = [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found]
            assert shown == [], f"{self.page.url} {scheme} {width}: {json.dumps(shown, indent=1)}"
        self.page.set_viewport_size({"width": 1440, "height": 1000})
        self.page.emulate_media(color_scheme="light")


@pytest.fixture
def sign_in(browser: Browser, installation: Installation) -> Iterator[Any]:
    """Sign somebody in at a browser of their own: `sign_in("operator")`. Any script error fails the test."""
    visitors: list[Visitor] = []

    def enter(username: str, password: str = "") -> Visitor:
        context = browser.new_context(base_url=installation.url, accept_downloads=True)
        page = context.new_page()
        visitor = Visitor(page, installation.url)
        page.on("pageerror", lambda error: visitor.problems.append(str(error)))
        page.on(
            "console",
            lambda line: visitor.problems.append(line.text) if "Content Security Policy" in line.text else None,
        )
        page.goto("/sign-in/?next=/settings/")
        page.get_by_label("User name").fill(username)
        page.get_by_label("Password").fill(password or installation.passwords[username])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(lambda url: "sign-in" not in url)
        visitors.append(visitor)
        return visitor

    yield enter
    problems = [problem for visitor in visitors for problem in visitor.problems]
    for visitor in visitors:
        visitor.page.context.close()
    assert problems == []


def pick(page: Page, label: str, value: str) -> None:
    """Pick what the server answers at once, on a page whose programs run: nobody hears what is picked before."""
    choice = page.get_by_label(label, exact=True)
    choice.wait_for()
    page.wait_for_load_state()
    path = urlsplit(page.url).path
    with page.expect_response(lambda response: urlsplit(response.url).path.startswith(path)):
        choice.select_option(value)


def save_to_draft(page: Page, form: Page | Locator | None = None) -> None:
    """Save a form and wait until it is: what is looked at before has another draft."""
    with page.expect_response(lambda response: response.request.method == "POST"):
        (form or page).get_by_role("button", name="Save to draft").click()


def agent_calls(installation: Installation, secret: str, agent: str, command: str) -> tuple[int, Any]:
    """Make a call as an agent's program does, and wait for its end; gives the status and the answer."""
    answer = httpx.post(
        f"{installation.url}/api/v1/calls",
        headers={"Authorization": f"Bearer {secret}"},
        json={"agent": agent, "tool": "exec", "params": {"command": command}, "wait_ms": 30_000},
        timeout=40,
    )
    return answer.status_code, answer.json()


def queue_of(visitor: Visitor) -> Page:
    """Open the approvals page and wait until its socket is live."""
    page = visitor.open("/approvals/")
    expect(page.locator("#conn")).to_contain_text("Live")
    return page
