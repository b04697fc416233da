"""The tool `email_send`: one plain text to recipients that the source allows."""

import base64
import json
import re
from collections.abc import Mapping
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from apps.firewall.sandbox.process import ProcessResult, run_process
from apps.firewall.tools import mail_program
from apps.firewall.tools.connections import Connection, fill_secrets
from apps.firewall.tools.connector.errors import ConnectorError
from apps.firewall.tools.connector.hosts import judged_addresses
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.running import ToolOutcome, failed
from apps.firewall.tools.work import Work

PROGRAM: Final = str(Path(mail_program.__file__))
TIME_LIMIT_S: Final = 30.0
OUTPUT_LIMIT_BYTES: Final = 64 * 1024
PORTS: Final = {"tls": 465, "starttls": 587, "none": 25}
_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
ADDRESS: Final = re.compile(rf"(?=.{{3,254}}\Z){_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*", re.ASCII)

DEFINITION = Definition(
    name="email_send",
    label="Send an email",
    description=(
        "Send a plain text by email, from an address that is set, to recipients that are allowed. It goes to all of "
        "them or to none."
    ),
    section="messaging",
    parameters={
        "type": "object",
        "properties": {
            "to": {
                "type": "array",
                "minItems": 1,
                "maxItems": 50,
                "items": {"type": "string", "minLength": 3, "maxLength": 254},
                "description": "Addresses, such as team@example.com, without names.",
            },
            "subject": {"type": "string", "minLength": 1, "maxLength": 500, "description": "Subject, on one line."},
            "body": {"type": "string", "maxLength": 200000, "description": "The text."},
            "dry_run": {
                "type": "boolean",
                "default": False,
                "description": "Only show the mail that would be sent.",
            },
        },
        "required": ["to", "subject", "body"],
        "additionalProperties": False,
    },
    execution_mode="sequential",
)


async def run(params: JsonObject, work: Work) -> ToolOutcome:
    """Send the mail, or show it. When it broke off while the mail went out, nobody knows whether it arrived."""
    settings = fill_secrets(work.connection.settings, work.connection.secrets)
    recipients = list(dict.fromkeys(str(each) for each in params["to"]))
    refused = _refused(params["subject"], recipients, settings)
    if refused is not None:
        return refused
    message = _message(params, recipients, settings["sender"])
    if params.get("dry_run") or settings.get("dry_run"):
        return ToolOutcome(result={"dry_run": True, "to": recipients, "message": message.as_string()})
    try:
        addresses = await judged_addresses(str(settings["host"]), work.connection.rules, work.resolve)
    except ConnectorError as exc:
        return failed(exc.code, exc.message)
    order = {
        "host": settings["host"],
        "addresses": addresses,
        "port": settings.get("port") or PORTS[settings.get("security") or "starttls"],
        "security": settings.get("security") or "starttls",
        "username": settings.get("username", ""),
        "password": settings.get("password", ""),
        "ca": settings.get("ca", ""),
        "sender": settings["sender"],
        "to": recipients,
        "message": base64.b64encode(message.as_bytes()).decode("ascii"),
    }
    return _outcome(await _hand_over(order, work), recipients, str(message["Message-ID"]))


def problem(connection: Connection) -> str:
    """Say which setting of a source keeps the tool from running; empty for none."""
    settings = connection.settings
    if settings.get("security", "starttls") not in PORTS:
        return f"`security` must be one of {', '.join(PORTS)}"
    if settings.get("security") == "none" and settings.get("username"):
        return "`security` is `none`: the password would go in clear"
    if not ADDRESS.fullmatch(str(settings.get("sender", ""))):
        return "`sender` must be an address such as agent@example.com, without a name"
    return ""


def _refused(subject: str, recipients: list[str], settings: Mapping[str, Any]) -> ToolOutcome | None:
    if any(not each.isprintable() for each in subject):
        return failed("subject_refused", "the subject must be one line without control characters")
    bad = next((each for each in recipients if not ADDRESS.fullmatch(each)), None)
    if bad is not None:
        return failed("address_invalid", f"`{bad[:100]!r}` is no address such as team@example.com, without a name")
    allowed = [str(pattern).lower() for pattern in settings["recipients"]]
    outside = [each for each in recipients if not any(fnmatchcase(each.lower(), pattern) for pattern in allowed)]
    if outside:
        return failed("recipient_refused", f"not among the recipients that are allowed: {', '.join(outside)}")
    return None


def _message(params: JsonObject, recipients: list[str], sender: str) -> EmailMessage:
    message = EmailMessage(policy=SMTP.clone(cte_type="7bit"))  # not every server takes eight
    message["From"] = sender
    message["To"] = ", ".join(recipients)
    message["Subject"] = params["subject"]
    message["Date"] = formatdate(localtime=False)
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2])
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(str(params["body"]).encode("utf-8", "replace").decode())
    return message


async def _hand_over(order: Mapping[str, Any], work: Work) -> ProcessResult:
    return await run_process(
        [work.place.python, "-I", "-S", PROGRAM],
        cwd=work.place.root,
        env={"LANG": "C.UTF-8"},
        limits=work.place.limits,
        time_limit_s=TIME_LIMIT_S,
        output_limit_bytes=OUTPUT_LIMIT_BYTES,
        stdin=json.dumps(order).encode(),
        readable=(PROGRAM,),
        network=True,
    )


def _outcome(ran: ProcessResult, recipients: list[str], message_id: str) -> ToolOutcome:
    told: dict[str, Any] = {}
    for line in ran.stdout.text().splitlines():
        told |= json.loads(line)
    if "sent" in told:
        return ToolOutcome(result={"to": recipients, "message_id": message_id, "status": told["sent"]["status"]})
    error = told.get("error") or {"code": "tool_failed", "message": f"the mail was not handed over: {ran.ended}"}
    is_open = told.get("stage") == "sending" and error["code"] != "message_rejected"
    return ToolOutcome(ended="unknown" if is_open or ran.ended == "lost" else "failed", error=error)
