"""Where messages may go: the rules of callbacks, for addresses that people and browsers give."""

from django.conf import settings

from apps.firewall.tools.connections import AddressRules
from apps.firewall.tools.connector.addresses import address_problem
from apps.firewall.tools.connector.errors import UrlRefusedError
from apps.firewall.tools.connector.urls import check_url


def outgoing_rules() -> AddressRules:
    """Give the rules: public addresses over https, unless this installation opens networks."""
    networks = tuple(settings.CALLBACK_NETWORKS)
    return AddressRules(
        networks_allowed=networks,
        ports=tuple(settings.CALLBACK_PORTS),
        schemes=("https", "http") if networks else ("https",),
    )


def check_outgoing(url: str) -> None:
    """Let through an address that may be kept. What its name leads to is judged at each attempt.

    Raises:
        UrlRefusedError: nothing may be sent there.
    """
    rules = outgoing_rules()
    target = check_url(url, rules)
    problem = None if target.address is None else address_problem(target.address, rules.networks_allowed)
    if problem is not None:
        raise UrlRefusedError(f"`{target.host}` is no public address: {problem}")
