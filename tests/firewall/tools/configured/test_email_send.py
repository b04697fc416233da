"""`email_send`: mails on a real line to a server on loopback, and every way past the list of recipients."""

import asyncio
from dataclasses import replace
from email import message_from_string, policy
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.discovery.own import look_own
from apps.firewall.tools.work import Work
from tests.firewall.tools.configured.mail_server import MailServer, mail_server
from tests.firewall.tools.configured.works import code, run, work_in
from tests.firewall.tools.connector.test_tls import Certified, certified  # noqa: F401 - a fixture

pytestmark = pytest.mark.unhurried


def post(folder: Path, server: MailServer | None = None, **settings: Any) -> Work:
    usual = {
        "host": "127.0.0.1",
        "port": server.port if server else 9,
        "security": "none",
        "sender": "agent@example.com",
        "recipients": ["*@example.com", "boss@example.org"],
        "allow_networks": ["127.0.0.0/8", "::1/128"],
    }
    return work_in(folder, "own_email", **{**usual, **settings})


MAIL = {"to": ["a@example.com"], "subject": "Hi", "body": "hello"}


async def test_a_mail_goes_to_all_of_its_recipients_as_it_was_written(tmp_path: Path) -> None:
    to = ["A@Example.com", "boss@example.org", "A@Example.com"]
    async with mail_server() as server:
        outcome = await run("email_send", post(tmp_path, server), to=to, subject="Grüße ✉", body="one\n.\ntwo 二\n")

    assert outcome.result is not None
    assert outcome.result["to"] == ["A@Example.com", "boss@example.org"]
    assert server.commands[1:4] == [
        "mail FROM:<agent@example.com>",
        "rcpt TO:<A@Example.com>",
        "rcpt TO:<boss@example.org>",
    ]
    (mail,) = server.mails
    read = message_from_string(mail.replace("\r\n..", "\r\n."), policy=policy.default)
    assert (read["Subject"], read["To"], read["From"]) == (
        "Grüße ✉",
        "A@Example.com, boss@example.org",
        "agent@example.com",
    )
    assert read["Message-ID"] == outcome.result["message_id"]
    assert read.get_content().splitlines() == ["one", ".", "two 二"]


@pytest.mark.parametrize("place", ["params", "settings"])
async def test_a_dry_run_shows_the_mail_and_opens_no_line(tmp_path: Path, place: str) -> None:
    asked = {"dry_run": True}
    async with mail_server() as server:
        work = post(tmp_path, server, **(asked if place == "settings" else {}))
        outcome = await run("email_send", work, **MAIL, **(asked if place == "params" else {}))

    assert outcome.result is not None and outcome.result["dry_run"]
    assert "Subject: Hi" in outcome.result["message"]
    assert server.commands == []


OUTSIDE = [
    ["x@example.net"],
    ["a@example.com", "x@example.net"],
    ["a@example.com.evil.net"],
    ["a@evil.net?@example.com"],
    ["other@example.org"],
]


@pytest.mark.parametrize("to", OUTSIDE, ids=str)
async def test_whoever_is_not_listed_gets_nothing_and_neither_do_the_others(tmp_path: Path, to: list[str]) -> None:
    async with mail_server() as server:
        outcome = await run("email_send", post(tmp_path, server), **{**MAIL, "to": to})

    assert code(outcome) in {"recipient_refused", "address_invalid"}
    assert server.commands == []


INJECTED = [
    "a@example.com\r\nBcc: x@evil.net",
    "a@example.com\nRCPT TO:<x@evil.net>",
    "x@evil.net>, <a@example.com",
    "x@evil.net,a@example.com",
    "x@evil.net a@example.com",
    "Name <x@evil.net>@example.com",
    '"x@evil.net"@example.com',
    "x@evil.net\0@example.com",
    "x@evil.net%0d@example.com\r",
    "a@example.com ",
    "à@example.com",
    "@example.com",
]


@pytest.mark.parametrize("address", INJECTED, ids=ascii)
async def test_an_address_holds_no_other_one_and_no_header(tmp_path: Path, address: str) -> None:
    async with mail_server() as server:
        outcome = await run("email_send", post(tmp_path, server), **{**MAIL, "to": [address]})

    assert code(outcome) == "address_invalid"
    assert server.commands == []


@pytest.mark.parametrize(
    "subject", ["x\r\nBcc: x@evil.net", "x\nTo: y", "x\ry", "x\u2028Bcc: y", "x\x0bBcc: y", "x\x85y"]
)
async def test_a_subject_holds_no_header(tmp_path: Path, subject: str) -> None:
    async with mail_server() as server:
        outcome = await run("email_send", post(tmp_path, server), **{**MAIL, "subject": subject})

    assert code(outcome) == "subject_refused"
    assert server.commands == []


async def test_a_body_ends_neither_the_mail_nor_begins_a_command(tmp_path: Path) -> None:
    body = "a\r\n.\r\nMAIL FROM:<x@evil.net>\nBcc: x@evil.net\n\n.\n"
    async with mail_server() as server:
        await run("email_send", post(tmp_path, server), **{**MAIL, "body": body})

    assert len(server.mails) == 1
    assert sum(each.lower().startswith("mail from") for each in server.commands) == 1


async def test_one_recipient_that_the_server_does_not_take_keeps_the_mail_from_all(tmp_path: Path) -> None:
    async with mail_server() as server:
        server.refuses["rcpt to:<b@"] = "550 nobody here"
        outcome = await run("email_send", post(tmp_path, server), **{**MAIL, "to": ["a@example.com", "b@example.com"]})

    assert (outcome.ended, code(outcome)) == ("failed", "recipient_rejected")
    assert (outcome.error or {})["message"] == "the server does not take `b@example.com`: 550"
    assert server.mails == []


REFUSED = {"mail": "sender_rejected", "data": "message_rejected", "auth": "login_rejected"}


@pytest.mark.parametrize("command", REFUSED)
async def test_what_the_server_refuses_has_failed(tmp_path: Path, command: str, certified: Certified) -> None:  # noqa: F811
    tls, ca = certified("localhost")
    async with mail_server(tls=tls) as server:
        server.refuses[command] = "535 no"
        login = {"username": "me", "password": "hush-hush", "security": "tls", "host": "localhost", "ca": ca}
        outcome = await run("email_send", post(tmp_path, server, **login), **MAIL)

    assert (outcome.ended, code(outcome)) == ("failed", REFUSED[command])
    assert "hush-hush" not in str(outcome)


async def test_over_tls_the_server_proves_its_name_before_the_password_goes_out(
    tmp_path: Path,
    certified: Certified,  # noqa: F811
) -> None:
    tls, ca = certified("localhost")
    settings = {"security": "tls", "username": "me", "password": {"$secret": "password"}}
    secrets = {"password": "hush-hush"}
    async with mail_server(tls=tls) as server:
        there = post(tmp_path, server, host="localhost", ca=ca, secrets=secrets, **settings)
        elsewhere = post(tmp_path, server, host="127.0.0.1", ca=ca, secrets=secrets, **settings)
        sent = await run("email_send", there, **MAIL)
        refused = await run("email_send", elsewhere, **MAIL)

    assert sent.ended == "completed"
    assert code(refused) == "tls_failed"
    assert [each for each in server.commands if each.startswith("AUTH")] == ["AUTH PLAIN AG1lAGh1c2gtaHVzaA=="]


async def test_a_server_without_starttls_gets_nothing_where_tls_was_asked_for(tmp_path: Path) -> None:
    async with mail_server() as server:
        outcome = await run("email_send", post(tmp_path, server, security="starttls"), **MAIL)

    assert code(outcome) == "server_unfit"
    assert server.mails == []


async def test_nobody_knows_of_a_mail_whose_line_broke_after_it_went_out(tmp_path: Path) -> None:
    async with mail_server() as server:
        server.hangs_up_after_data = True
        open_end = await run("email_send", post(tmp_path, server), **MAIL)
    gone = await run("email_send", post(tmp_path, server), **MAIL)

    assert (open_end.ended, gone.ended, code(gone)) == ("unknown", "failed", "server_unreachable")


BANNERS = {
    "ssh": b"SSH-2.0-secret-banner\r\n",
    "http": b"HTTP/1.1 400 secret-banner\r\n\r\n",
    "refusal": b"554 secret-banner\r\n",
    "binary": b"\x00\xffsecret-banner\r\n",
    "long": b"220-secret-banner" * 2000 + b"\r\n",
}


@pytest.mark.parametrize("security", ["none", "starttls", "tls"])
@pytest.mark.parametrize("banner", BANNERS)
async def test_nothing_that_another_service_says_gets_to_the_agent(tmp_path: Path, banner: str, security: str) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(BANNERS[banner])
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(speak, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        outcome = await run("email_send", post(tmp_path, port=port, security=security), **MAIL)

    assert code(outcome) in {"server_unreachable", "tls_failed"}
    assert "secret-banner" not in str(outcome) and "SSH" not in str(outcome)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.0.0.1", "::1", "169.254.169.254", "mail.test"])
async def test_a_server_that_is_not_public_is_not_connected_to(tmp_path: Path, host: str) -> None:
    async def inside(name: str) -> list[str]:
        return ["127.0.0.1"]

    async with mail_server() as server:
        work = replace(post(tmp_path, server, host=host, allow_networks=[]), resolve=inside)
        outcome = await run("email_send", work, **MAIL)

    assert code(outcome) == "address_refused"
    assert server.commands == []


async def test_a_name_that_leads_elsewhere_the_second_time_leads_nowhere_new(tmp_path: Path) -> None:
    asked: list[str] = []

    async def rebinding(name: str) -> list[str]:
        asked.append(name)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    async with mail_server() as server:
        work = replace(post(tmp_path, server, host="mail.test", allow_networks=["127.0.0.1/32"]), resolve=rebinding)
        outcome = await run("email_send", work, **MAIL)

    assert outcome.ended == "completed"
    assert asked == ["mail.test"]
    assert len(server.mails) == 1


async def test_domains_hold_for_mail_servers_too(tmp_path: Path) -> None:
    async with mail_server() as server:
        for lists in ({"deny_domains": ["localhost"]}, {"allow_domains": ["mail.example.com"]}):
            outcome = await run("email_send", post(tmp_path, server, host="localhost", **lists), **MAIL)

            assert code(outcome) == "url_refused"
    assert server.commands == []


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"security": "ssl"}, "`security` must be one of"),
        ({"username": "me", "password": "x"}, "the password would go in clear"),
        ({"sender": "Agent <a@example.com>"}, "`sender` must be an address"),
        ({"sender": "a@example.com\r\nBcc: x@evil.net"}, "`sender` must be an address"),
    ],
)
async def test_settings_that_cannot_be_used_are_told_at_the_look(
    tmp_path: Path, settings: dict[str, Any], says: str
) -> None:
    (found,) = (await look_own(post(tmp_path, **settings).connection)).found

    assert found.failure is not None and says in found.failure.message
