"""No silence: what goes where and when while nobody answers, to real receivers."""

import hmac
import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from django.db.models import Q

from apps.approvals.answering import answer_rule_add
from apps.approvals.escalating import approvals_escalate
from apps.approvals.freezing import approvals_freeze
from apps.approvals.models import Approval
from apps.approvals.services import approval_request, approval_resolve
from apps.firewall.tools.signing import Signed, Signing, signed_text
from apps.keys.push import push_key, push_public_key
from apps.notifications.delivering import BACK_OFF_S, deliver, deliveries_due, delivery_claim, delivery_heard
from apps.notifications.models import Delivery, Subscription
from apps.notifications.people import preference_save
from apps.notifications.planning import deliveries_plan
from apps.notifications.sending import send
from apps.notifications.webhooks import webhook_add
from tests.approvals.conftest import NOON
from tests.notifications.conftest import Browser, Mailbox
from tests.receiver import Receiver

Ask = Callable[..., Approval]
pytestmark = pytest.mark.django_db
SECRET = "a shared key of a test"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def after(seconds: float) -> Any:
    return NOON + timedelta(seconds=seconds)


def work(at: Any) -> list[str]:
    """Do what the sweep and the senders do at a moment; give the channels in whose name something was tried."""
    deliveries_plan(at)
    tried = []
    for pk in deliveries_due(at):
        taken = delivery_claim(pk, at)
        if taken is not None:
            delivery_heard(taken, send(taken, at), at)
            tried.append(taken.channel)
    return sorted(tried)


def states() -> dict[str, str]:
    return dict(Delivery.objects.order_by("channel").values_list("channel", "state"))


@pytest.fixture
def everything(environment: Any, operator: Any, browser_at: Callable[..., Browser], receiver: Receiver) -> Browser:
    """One operator with a browser and a mailbox; the environment has a webhook."""
    browser = browser_at()
    browser.subscribe(operator)
    preference_save(operator, email="olga@example.com", language="", quiet="")
    webhook_add(environment, name="pager", url=f"{receiver.origin}/pager?key=hidden", secret=SECRET)
    return browser


def test_channel_follows_channel_while_nobody_answers(
    ask: Ask, everything: Browser, mailbox: Mailbox, receiver: Receiver
) -> None:
    approval = ask()
    seen = [work(after(seconds)) for seconds in (0, 59, 60, 61, 77, 78, 95, 96, 119)]
    assert seen == [[], [], ["web_push"], [], [], ["email"], [], ["webhook"], []]
    assert states() == {"email": "sent", "web_push": "sent", "webhook": "sent"}
    assert [path for path, *_ in receiver.heard] == ["/push/1", "/pager?key=hidden"]
    assert len(mailbox.mails) == 1 and Delivery.objects.filter(approval=approval).count() == 3


def test_the_push_is_for_that_browser_alone_and_says_who_sends_it(
    ask: Ask, everything: Browser, receiver: Receiver, settings: Any
) -> None:
    approval = ask(command="curl -H 'Authorization: Bearer abcdefghijklmnop' https://example.com")
    work(after(60))
    _path, headers, body = receiver.heard[0]
    assert (headers["content-encoding"], headers["urgency"], int(headers["ttl"]) > 0) == ("aes128gcm", "high", True)
    told = everything.read(body)
    assert told["title"] == "ops-runner asks for exec"
    assert told["path"] == f"/approvals/{approval.shown_id}/card/"
    assert "abcdefghijklmnop" not in json.dumps(told) and "curl" not in json.dumps(told)
    scheme, _, rest = headers["authorization"].partition(" ")
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    claims = jwt.decode(parts["t"], push_key().public_key(), algorithms=["ES256"], audience=receiver.origin)
    assert (scheme, parts["k"]) == ("vapid", push_public_key())
    assert claims["sub"] in {settings.PUBLIC_URL, f"mailto:{settings.DEFAULT_FROM_EMAIL}"}
    with pytest.raises(Exception, match=r"decrypt|tag|Decryption"):
        Browser("x", ec.generate_private_key(ec.SECP256R1())).read(body)


def test_the_mail_is_in_the_persons_language_and_holds_the_link(
    ask: Ask, everything: Browser, mailbox: Mailbox, operator: Any, settings: Any
) -> None:
    preference_save(operator, email="olga@example.com", language="zh-hans", quiet="")
    approval = ask(agent="bot\r\nBcc: everybody@example.com\u202e")
    work(after(78))
    ((recipients, mail),) = mailbox.mails
    assert recipients == ["olga@example.com"] and mail["Bcc"] is None
    assert mail["Subject"].strip() == "bot��Bcc: everybody@example.com� 请求使用 exec"
    assert f"{settings.PUBLIC_URL}/approvals/{approval.shown_id}/card/" in mail.get_content()  # type: ignore[attr-defined]


def test_the_webhook_is_signed_and_holds_no_command(ask: Ask, everything: Browser, receiver: Receiver) -> None:
    approval = ask()
    work(after(119))
    path, headers, body = receiver.heard[-1]
    signed = Signed(
        method="POST",
        host=f"127.0.0.1:{receiver.port}",
        path=path,
        timestamp=int(headers["openclaw-timestamp"]),
        call_id=headers["openclaw-call-id"],
        body=body,
    )
    wanted = hmac.digest(SECRET.encode(), signed_text(Signing(algorithm="hmac-sha256", key=SECRET), signed), "sha256")
    assert headers["openclaw-signature"] == f"hmac-sha256={wanted.hex()}"
    told = json.loads(body)
    assert (told["event"], told["approval"]["id"]) == ("approval.waiting", approval.shown_id)
    assert "curl" not in body.decode()


def test_the_webhook_carries_the_trace_of_the_call_on(
    draft_for: Callable[..., Any], environment: Any, receiver: Receiver
) -> None:
    webhook_add(environment, name="pager", url=f"{receiver.origin}/pager")
    approval_request(draft_for(trace_id=TRACE), at=NOON, timeout_s=3600)
    work(after(1800))
    ((_, headers, _),) = receiver.heard
    assert re.fullmatch(f"00-{TRACE}-[0-9a-f]{{16}}-01", headers["traceparent"])


def test_what_failed_is_tried_again_and_in_the_end_given_up(
    draft_for: Callable[..., Any], environment: Any, receiver: Receiver
) -> None:
    webhook_add(environment, name="pager", url=f"{receiver.origin}/pager")
    approval_request(draft_for(), at=NOON, timeout_s=3600)
    receiver.statuses = [500] * 9
    at = after(1800)
    work(at)
    (row,) = Delivery.objects.all()
    assert (row.state, row.status, row.message) == ("failed", 500, "the other side answered 500")
    for seconds in BACK_OFF_S:
        assert work(at + timedelta(seconds=seconds - 1)) == []
        at += timedelta(seconds=seconds)
        assert work(at) == ["webhook"]
    row.refresh_from_db()
    assert (row.state, row.attempts, row.due_at) == ("given_up", len(BACK_OFF_S) + 1, None)
    assert {headers["openclaw-attempt"] for _, headers, _ in receiver.heard} == {"1", "2", "3", "4", "5"}


def test_a_browser_that_is_gone_is_forgotten_and_a_redirect_is_not_followed(
    ask: Ask, everything: Browser, receiver: Receiver
) -> None:
    receiver.statuses = [410]
    ask()
    work(after(60))
    assert states() == {"web_push": "given_up"} and not Subscription.objects.exists()
    receiver.statuses = [307]
    work(after(119))
    assert Delivery.objects.get(channel="webhook").state == "failed"


def test_an_answer_ends_it(ask: Ask, everything: Browser, receiver: Receiver, admin: Any) -> None:
    approval = ask()
    deliveries_plan(after(60))
    approval_resolve(approval, decision="deny", by=admin, at=after(61))
    assert work(after(62)) == [] and receiver.heard == []
    assert states() == {"web_push": "dropped"}


def test_addresses_are_judged_again_when_something_is_sent(
    ask: Ask, everything: Browser, receiver: Receiver, settings: Any
) -> None:
    settings.CALLBACK_NETWORKS = []
    ask()
    work(after(119))
    assert receiver.heard == []
    assert set(Delivery.objects.exclude(channel="email").values_list("state", "error_code")) == {
        ("failed", "url_refused")
    }


def test_quiet_people_are_told_of_nothing_or_of_high_risk_only(
    ask: Ask, everything: Browser, receiver: Receiver, operator: Any
) -> None:
    preference_save(operator, email="", language="", quiet="low")
    ask(severity="low")
    assert work(after(60)) == ["webhook"]  # the first channel that reaches anybody
    ask(severity="high", command="rm -rf /srv")
    assert work(after(60)) == ["web_push"]
    preference_save(operator, email="", language="", quiet="all")
    ask(severity="high", command="rm -rf /opt")
    assert work(after(60)) == ["webhook"]


def test_only_those_who_may_answer_are_told(
    ask: Ask, environment: Any, operator: Any, viewer: Any, admin: Any, browser_at: Callable[..., Browser]
) -> None:
    for place, person in enumerate((operator, viewer, admin)):
        browser_at(f"/push/{place}").subscribe(person)
    answer_rule_add(environment, name="r", people=["operator"])
    ask(requester=admin.actor)
    assert work(after(60)) == ["web_push"]
    assert [row.person for row in Delivery.objects.all()] == [operator]


def test_whom_it_escalates_to_is_told_at_once(
    ask: Ask, environment: Any, operator: Any, admin: Any, browser_at: Callable[..., Browser]
) -> None:
    for place, person in enumerate((operator, admin)):
        browser_at(f"/push/{place}").subscribe(person)
    answer_rule_add(environment, name="r", people=["operator"], escalate_after_s=30, escalate_roles=["admin"])
    ask()
    assert work(after(29)) == []
    approvals_escalate(after(30))
    assert work(after(31)) == ["web_push", "web_push"]
    assert work(after(61)) == []


def test_time_that_stands_still_tells_nobody(ask: Ask, everything: Browser, environment: Any) -> None:
    ask()
    approvals_freeze(environment, Q(agent="ops-runner"), at=after(30))
    assert work(after(90)) == []
    approvals_freeze(environment, Q(), at=after(1000))
    assert work(after(1029)) == []
    assert work(after(1030)) == ["web_push"]


def test_a_second_sweep_and_a_second_sender_do_nothing_twice(ask: Ask, everything: Browser, receiver: Receiver) -> None:
    ask()
    assert [deliveries_plan(after(60)), deliveries_plan(after(60))] == [1, 0]
    (pk,) = deliveries_due(after(60))
    assert delivery_claim(pk, after(60)) is not None
    assert delivery_claim(pk, after(60)) is None
    deliver(pk)  # its request's time is over by the real clock
    assert receiver.heard == []
