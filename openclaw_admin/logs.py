"""One line per event, for machines as JSON or for a person at a terminal; secrets are masked in both."""

import logging.config
import re
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog

from apps.firewall.redaction import mask_text, mask_value

JSON, CONSOLE = "json", "console"
# Written by ourselves from values that hold no text of others.
OURS = frozenset({"timestamp", "level", "logger", "request_id", "status", "duration_ms", "method"})
# Paths whose last part lets somebody in: the secret is not written.
ONE_TIME_LINK = re.compile(r"(/invitation/|/password-reset/[^/\s]+/)[^/\s]+")
QUIET = {
    "django.request": "ERROR",  # RequestLog has the line already
    "celery": "WARNING",  # a line for each sweep, every few seconds
    "kombu": "WARNING",
    "httpx": "WARNING",
    "uvicorn": "WARNING",
}


def mask_event(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Take secrets out of whatever an event carries, tracebacks included."""
    from apps.keys.installation import mask_key

    key = mask_key()

    def masked(text: str) -> str:
        return mask_text(ONE_TIME_LINK.sub(r"\1…", text), key=key).text

    for name, value in event.items():
        if name in OURS or value is None or isinstance(value, bool | int | float):
            continue
        event[name] = masked(value) if isinstance(value, str) else mask_value(value, key=key).value
    return event


SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def logging_settings(shape: str, level: str) -> dict[str, Any]:
    """Describe Python's logging for `configure`.

    Args:
        shape: `json` or `console`.
        level: least level that is written, for example `INFO`.
    """
    # Tracebacks become text before masking: a renderer that formats them itself would write them unmasked.
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if shape == JSON else structlog.dev.ConsoleRenderer(colors=False)
    )
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": SHARED,
        "processors": [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            mask_event,
            renderer,
        ],
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"ours": formatter},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "ours"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {name: {"level": least} for name, least in QUIET.items()},
    }


def configure(described: Mapping[str, Any]) -> None:
    """Set up structlog and Python's logging; Django calls it once with LOGGING."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.processors.StackInfoRenderer(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    logging.config.dictConfig(dict(described))
