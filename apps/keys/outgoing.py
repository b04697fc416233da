"""What this installation posts by its own hand, callbacks and notifications: where it may go, and how it is signed."""

import time

from django.conf import settings

from apps.firewall.identifiers import trace_headers
from apps.firewall.tools.connections import AddressRules
from apps.firewall.tools.connector.urls import read_target, sent_path
from apps.firewall.tools.signing import Signed, Signing, signature_headers
from apps.keys.callbacks import callback_key_id, callback_seed


def outgoing_rules() -> AddressRules:
    """Give the rules for addresses: public ones over https, unless this installation opens networks."""
    networks = tuple(settings.CALLBACK_NETWORKS)
    return AddressRules(
        networks_allowed=networks,
        ports=tuple(settings.CALLBACK_PORTS),
        schemes=("https", "http") if networks else ("https",),
    )


def outgoing_headers(
    url: str, body: bytes, *, shown_id: str, secret: str, attempt: int, trace_id: str = ""
) -> dict[str, str]:
    """Sign a JSON post: with the shared key of whoever hears it, or else with the key of this installation.

    Args:
        shown_id: of what is told, such as `call_…`.
        secret: empty where no key is shared.
        attempt: its number, from 1.
        trace_id: of the trace that the call belongs to of which is told; it goes on over there.
    """
    signing = (
        Signing(algorithm="hmac-sha256", key=secret)
        if secret
        else Signing(algorithm="ed25519", key=callback_seed().hex(), key_id=callback_key_id())
    )
    signed = Signed(
        method="POST",
        host=read_target(url).host_header,
        path=sent_path(url),
        timestamp=int(time.time()),
        call_id=shown_id,
        body=body,
    )
    plain = {"Content-Type": "application/json", "OpenClaw-Attempt": str(attempt)} | trace_headers(trace_id)
    return plain | signature_headers(signing, signed)
