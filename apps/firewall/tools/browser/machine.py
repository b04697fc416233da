"""Which browser this machine has, whether it can be held, and the rules that it is started under.

Source: Chrome Enterprise policy list.
"""

import base64
import importlib.util
import re
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from apps.firewall.sandbox.levels import offer
from apps.firewall.tools.connections import Connection

BROWSERS: Final = (
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
)
"""Programs themselves: what lies in /usr/bin is a script that wants the whole system."""
MEMORY_MB: Final = 1024
MEMORY_RANGE_MB: Final = range(512, 8193)
_CERTIFICATE: Final = re.compile("-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", flags=re.DOTALL)
_RULES: Final[Mapping[str, Any]] = {
    "URLBlocklist": ["*"],
    "URLAllowlist": ["http://*", "https://*", "about:blank"],
    "BackgroundModeEnabled": False,
    "BrowserSignin": 0,
    "BuiltInDnsClientEnabled": False,
    "ComponentUpdatesEnabled": False,
    "DefaultGeolocationSetting": 2,
    "DefaultNotificationsSetting": 2,
    "DefaultPopupsSetting": 2,
    "DnsOverHttpsMode": "off",
    "DownloadRestrictions": 3,
    "MetricsReportingEnabled": False,
    "NetworkPredictionOptions": 2,
    "QuicAllowed": False,
    "SafeBrowsingProtectionLevel": 0,
    "SyncDisabled": True,
    "CAPlatformIntegrationEnabled": False,
}


def browser() -> str:
    """Give the path of the browser; empty where there is none that can be held."""
    return next((path for path in BROWSERS if Path(path).is_file()), "")


def machine_problem() -> str:
    """Say why no page can be opened here; empty when one can."""
    if not browser():
        return "Chromium is not installed: `make system` brings it, or the system's package `chromium`"
    if importlib.util.find_spec("playwright") is None:
        return "the Python package `playwright` is not installed"
    problem = offer().lacks("isolated")
    return f"a browser needs the sandbox level `isolated`, which is not to be had here: {problem}" if problem else ""


def settings_problem(connection: Connection) -> str:
    """Say which setting of a source keeps pages from being opened; empty for none."""
    if memory_mb(connection) not in MEMORY_RANGE_MB:
        return f"`memory_mb` must be from {MEMORY_RANGE_MB.start} to {MEMORY_RANGE_MB.stop - 1}"
    try:
        ssl.create_default_context(cadata=connection.ca or None)
    except (ssl.SSLError, ValueError):
        return "`ca` holds no certificates in PEM"
    return ""


def memory_mb(connection: Connection) -> int:
    """Give the memory that a source allows one browser, in megabytes."""
    return int(connection.settings.get("memory_mb") or MEMORY_MB)


def rules(ca: str) -> Mapping[str, Any]:
    """Write the rules that a browser starts under: no page that is not of the web, no wish of its own.

    Args:
        ca: certificates in PEM that it trusts beside its own ones.
    """
    certificates = [ssl.PEM_cert_to_DER_cert(each) for each in _CERTIFICATE.findall(ca)]
    trusted = [base64.b64encode(each).decode("ascii") for each in certificates]
    return {**_RULES, "CACertificates": trusted} if trusted else _RULES
