"""The program that hands one mail to a server: `python -I -S mail_program.py`, one order as JSON on stdin.

Standard library only. It says a line `sending` just before the mail itself goes out, so that whoever started it can
tell a mail that was never sent from one of which nobody knows, and at the end one line with `sent` or `error`.
"""

import base64
import contextlib
import json
import os
import smtplib
import socket
import ssl
import sys
from typing import Any

TIME_LIMIT_S = 20.0


def say(**told: Any) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


class NamedContext(ssl.SSLContext):
    """TLS with a server that proves the name of the order, whatever address the line goes to."""

    name = ""

    def wrap_socket(self, sock: socket.socket, *arguments: Any, **members: Any) -> ssl.SSLSocket:
        return super().wrap_socket(sock, *arguments, **{**members, "server_hostname": self.name})


def trust(order: dict[str, Any]) -> ssl.SSLContext:
    context = NamedContext(ssl.PROTOCOL_TLS_CLIENT)  # checks certificates and names
    context.name = order["host"]
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if order["ca"]:
        context.load_verify_locations(cadata=order["ca"])
    else:
        context.load_default_certs()
    return context


def opened(order: dict[str, Any]) -> smtplib.SMTP:
    """Connect to the first address of the order that answers; no name is resolved here.

    Raises:
        OSError, smtplib.SMTPException: of the last address.
    """
    for address in order["addresses"][:-1]:
        try:
            return connected(order, address)
        except ssl.SSLError:
            raise
        except OSError:
            continue
    return connected(order, order["addresses"][-1])


def connected(order: dict[str, Any], address: str) -> smtplib.SMTP:
    """Connect as the order says; without TLS only where it says so."""
    where = {"host": address, "port": order["port"], "timeout": TIME_LIMIT_S}
    if order["security"] == "tls":
        return smtplib.SMTP_SSL(**where, context=trust(order))
    server = smtplib.SMTP(**where)
    server.ehlo()
    if order["security"] == "starttls":
        server.starttls(context=trust(order))
        server.ehlo()
    return server


def send(server: smtplib.SMTP, order: dict[str, Any]) -> dict[str, Any]:
    """Hand over a mail that goes to all of its recipients, or to none."""
    if order["username"]:
        server.login(order["username"], order["password"])
    code, _ = server.mail(order["sender"])
    if code != 250:
        return {"error": refused("sender_rejected", "the server does not take mail of this sender", code)}
    for recipient in order["to"]:
        code, _ = server.rcpt(recipient)
        if code not in {250, 251}:
            server.rset()
            return {"error": refused("recipient_rejected", f"the server does not take `{recipient}`", code)}
    say(stage="sending")
    code, _ = server.data(base64.b64decode(order["message"]))
    if code != 250:
        return {"error": refused("message_rejected", "the server does not take the mail", code)}
    return {"sent": {"status": code}}


def refused(code: str, message: str, status: int) -> dict[str, str]:
    """Tell a refusal by its number: nothing that the other side says gets to agents."""
    return {"code": code, "message": f"{message}: {status if 200 <= status < 600 else 'no answer'}"}


def broken(exc: Exception) -> str:
    """Say in our words how a line broke."""
    if isinstance(exc, smtplib.SMTPConnectError | smtplib.SMTPHeloError | smtplib.SMTPServerDisconnected):
        return "what answers there is no mail server, or hung up"
    if isinstance(exc, smtplib.SMTPException):
        return "the server does not keep to the protocol of mail"
    if isinstance(exc, TimeoutError):
        return "nobody answers in time"
    return os.strerror(exc.errno) if isinstance(exc, OSError) and exc.errno else "the line broke"


def carry_out(order: dict[str, Any]) -> dict[str, Any]:
    try:
        server = opened(order)
        try:
            return send(server, order)
        finally:
            with contextlib.suppress(smtplib.SMTPException, OSError):  # by now it is settled whether the mail went
                server.quit()
    except smtplib.SMTPAuthenticationError as exc:
        return {"error": refused("login_rejected", "the server does not accept the login", exc.smtp_code)}
    except smtplib.SMTPDataError as exc:
        return {"error": refused("message_rejected", "the server does not take the mail", exc.smtp_code)}
    except smtplib.SMTPNotSupportedError:
        return {"error": {"code": "server_unfit", "message": "the mail server has no STARTTLS, or no way to sign in"}}
    except ssl.SSLError as exc:
        reason = exc.reason if isinstance(exc.reason, str) and exc.reason.isidentifier() else "no TLS"
        return {"error": {"code": "tls_failed", "message": f"the mail server does not prove its name: {reason}"}}
    except (smtplib.SMTPException, OSError, ValueError) as exc:
        message = f"the line to the mail server broke: {broken(exc)}"
        return {"error": {"code": "server_unreachable", "message": message}}


if __name__ == "__main__":
    say(**carry_out(json.load(sys.stdin)))
