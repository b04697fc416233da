"""Where messages may go: the rules of callbacks, for addresses that people and browsers give."""

from apps.firewall.tools.connector.addresses import address_problem
from apps.firewall.tools.connector.errors import UrlRefusedError
from apps.firewall.tools.connector.urls import check_url
from apps.keys.outgoing import outgoing_rules


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
