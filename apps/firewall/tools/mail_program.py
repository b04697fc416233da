"""The program that hands one mail to a server: `python -I -S mail_program.py`, one order as JSON on stdin.

Standard library only. It says a line `sending` just before the mail itself goes out, so that whoever started it can
tell a mail that was never sent from one of which nobody knows, and at the end one line with `sent` or `error`.
"""

import base64
import contextlib
import json
import smtplib
import ssl
import sys
from typing import Any

TIME_LIMIT_S = 20.0


def say(**told: Any) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def trust(ca: str) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=ca or None)


def opened(order: dict[str, Any]) -> smtplib.SMTP:
    """Connect as the order says; without TLS only where it says so."""
    where = {"host": order["host"], "port": order["port"], "timeout": TIME_LIMIT_S}
    if order["security"] == "tls":
        return smtplib.SMTP_SSL(**where, context=trust(order["ca"]))
    server = smtplib.SMTP(**where)
    server.ehlo()
    if order["security"] == "starttls":
        server.starttls(context=trust(order["ca"]))
        server.ehlo()
    return server


def send(server: smtplib.SMTP, order: dict[str, Any]) -> dict[str, Any]:
    """Hand over a mail that goes to all of its recipients, or to none."""
    if order["username"]:
        server.login(order["username"], order["password"])
    code, answer = server.mail(order["sender"])
    if code != 250:
        return {"error": refused("sender_rejected", "the server does not take mail of this sender", code, answer)}
    for recipient in order["to"]:
        code, answer = server.rcpt(recipient)
        if code not in {250, 251}:
            server.rset()
            return {"error": refused("recipient_rejected", f"the server does not take `{recipient}`", code, answer)}
    say(stage="sending")
    code, answer = server.data(base64.b64decode(order["message"]))
    if code != 250:
        return {"error": refused("message_rejected", "the server does not take the mail", code, answer)}
    return {"sent": {"answer": answer.decode("ascii", "replace")[:200]}}


def refused(code: str, message: str, status: int, answer: bytes) -> dict[str, str]:
    return {"code": code, "message": f"{message}: {status} {answer.decode('ascii', 'replace')[:200]}"}


def carry_out(order: dict[str, Any]) -> dict[str, Any]:
    try:
        server = opened(order)
        try:
            return send(server, order)
        finally:
            with contextlib.suppress(smtplib.SMTPException, OSError):  # by now it is settled whether the mail went
                server.quit()
    except smtplib.SMTPAuthenticationError as exc:
        return {"error": refused("login_rejected", "the server does not accept the login", exc.smtp_code, b"")}
    except smtplib.SMTPDataError as exc:
        return {"error": refused("message_rejected", "the server does not take the mail", exc.smtp_code, b"")}
    except smtplib.SMTPNotSupportedError as exc:
        return {"error": {"code": "server_unfit", "message": f"the mail server cannot do that: {exc}"}}
    except ssl.SSLError as exc:
        return {"error": {"code": "tls_failed", "message": f"the mail server does not prove its name: {exc.reason}"}}
    except (smtplib.SMTPException, OSError) as exc:
        return {"error": {"code": "server_unreachable", "message": f"the line to the mail server broke: {exc}"[:300]}}


if __name__ == "__main__":
    say(**carry_out(json.load(sys.stdin)))
