"""Being told and seeing each other, in a real browser: the service worker, presence, taking over."""

import concurrent.futures
import os
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.sync_api import expect

from tests.journeys.conftest import DEMO, Installation, agent_calls, queue_of

pytestmark = pytest.mark.journey
LONG_MS = 60_000

# The push service of a browser is another host's, so the browser's own part ends where it would ask that host.
SUBSCRIBES = """([point, secret]) => {
  PushManager.prototype.subscribe = async function (wanted) {
    window.asked = { visible: wanted.userVisibleOnly, key: [...wanted.applicationServerKey] };
    const told = { endpoint: "https://push.example/taken", keys: { p256dh: point, auth: secret } };
    return { toJSON: () => told };
  };
}"""


@pytest.fixture(scope="module")
def published(installation: Installation) -> Installation:
    installation.manage(
        "policy", "import", str(DEMO / "openclaw.json"), "--approvals", str(DEMO / "exec-approvals.json")
    )
    installation.manage("policy", "publish", "-m", "the sample")
    return installation


def text(octets: bytes) -> str:
    return urlsafe_b64encode(octets).rstrip(b"=").decode()


@pytest.mark.slow
def test_a_browser_registers_the_worker_and_subscribes(published: Installation, sign_in: Any) -> None:
    visitor = sign_in("operator")
    visitor.page.context.grant_permissions(["notifications"], origin=published.url)
    page = visitor.open("/notifications/")
    point = ec.generate_private_key(ec.SECP256R1()).public_key()
    keys = [text(point.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)), text(os.urandom(16))]
    page.evaluate(SUBSCRIBES, keys)
    key = page.locator("#push").get_attribute("data-key")
    with page.expect_response(lambda answer: answer.url.endswith("/notifications/browsers/add/")) as added:
        page.get_by_role("button", name="Tell this browser, too").click()
    assert added.value.status == 201
    expect(page.get_by_role("list", name="Browsers").get_by_role("listitem")).to_have_count(1, timeout=LONG_MS)
    scope = page.evaluate("async () => (await navigator.serviceWorker.getRegistration('/notifications/')).scope")
    assert scope == f"{published.url}/notifications/" and key
    visitor.check_access()


@pytest.mark.slow
def test_colleagues_see_each_other_and_take_over(published: Installation, sign_in: Any) -> None:
    secret = published.token("calls_make")
    first, second = queue_of(sign_in("operator")), queue_of(sign_in("admin"))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        running = pool.submit(agent_calls, published, secret, "main", "touch together.txt")
        mine = first.get_by_role("article").filter(has_text="together.txt")
        theirs = second.get_by_role("article").filter(has_text="together.txt")
        mine.get_by_role("heading", level=2).click()
        expect(theirs.locator(".ap-watch")).to_contain_text("is looking", timeout=LONG_MS)
        mine.get_by_role("button", name="Deny…").click()
        expect(theirs.locator(".ap-watch")).to_contain_text("is deciding", timeout=LONG_MS)
        theirs.get_by_role("button", name="Take over").click()
        expect(mine.locator(".ap-watch")).to_contain_text("took this over from you", timeout=LONG_MS)
        mine.get_by_role("button", name="Deny Enter").click()
        _, answer = running.result(timeout=60)
    assert answer["status"] == "denied"
