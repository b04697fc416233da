"""URLs are taken in their plain spelling and by the rules."""

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.firewall.tools.connections import AddressRules
from apps.firewall.tools.connector.errors import UrlRefusedError
from apps.firewall.tools.connector.urls import check_url, read_target

EVERYWHERE = AddressRules(ports=tuple(range(1, 65536)))


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("https://tools.example/a?b=c#d", "tools.example", 443),
        ("http://Tools.Example:8080", "tools.example", 8080),
        ("https://xn--fsq.example/", "xn--fsq.example", 443),
        ("http://192.0.2.1/", "192.0.2.1", 80),
        ("https://[2606:4700:0:0::1]:8443/", "2606:4700::1", 8443),
        ("http://[::ffff:127.0.0.1]/", "::ffff:7f00:1", 80),
        ("https://a_b-c.example", "a_b-c.example", 443),
        ("https://1.example.7a/", "1.example.7a", 443),
    ],
)
def test_a_plain_url_says_where_it_leads(url: str, host: str, port: int) -> None:
    target = check_url(url, EVERYWHERE)
    assert (target.host, target.port) == (host, port)


@pytest.mark.parametrize(
    "url",
    [
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.0.01/",
        "http://127.0.0.1./",
        "http://127.0.0.256/",
        "http://0x/",
        "http://tools.example.1/",
        "http://１２７.0.0.1/",
        "http://127。0。0。1/",
        "http://ⓔxample.com/",
        "http://[::1%25eth0]/",
        "http://[fe80::1%eth0]/",
        "http://[v1.x]/",
        "http://[::1]evil.example/",
        "http://[127.0.0.1]/",
        "http://[::1/",
    ],
)
def test_an_odd_spelling_of_an_address_is_refused(url: str) -> None:
    with pytest.raises(UrlRefusedError):
        check_url(url, EVERYWHERE)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://tools.example/",
        "file:///etc/passwd",
        "gopher://tools.example/",
        "//tools.example/",
        "tools.example/",
        "",
        "https://",
        "https:tools.example/",
        "https:///path",
        "https://user@tools.example/",
        "https://user:word@tools.example/",
        "https://@tools.example/",
        "https://good.example\\@tools.example/",
        "https://good.example%2f@tools.example/",
        "https://tools%2eexample/",
        "https://tools.example:port/",
        "https://tools.example:-1/",
        "https://tools.example:123456/",
        "https://tools.example:99999/",
        "https://tools.example:0/",
        "https://tools..example/",
        "https://-tools.example/",
        "https://tools.example./",
        "https://too\tls.example/",
        "https://tools.example/\r\nHost: other",
        "https://tools.example/ ",
        " https://tools.example/",
        "https://tools.example/\x00",
        f"https://{'a' * 64}.example/",
        "https://xn--\x80.example/",
        f"https://{'a.' * 130}example/",
        f"https://tools.example/{'a' * 9000}",
    ],
)
def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    with pytest.raises(UrlRefusedError):
        check_url(url, EVERYWHERE)


def test_names_are_held_against_both_lists_and_the_denial_wins() -> None:
    rules = AddressRules(domains_allowed=("*.example", "One.Test"), domains_denied=("bad.example", "*.bad.example"))
    for url in ("https://a.example/", "https://a.b.example/", "https://one.test/"):
        check_url(url, rules)
    for url in ("https://example/", "https://bad.example/", "https://x.BAD.example/", "https://two.test/"):
        with pytest.raises(UrlRefusedError):
            check_url(url, rules)


def test_a_pattern_covers_whole_labels_only() -> None:
    with pytest.raises(UrlRefusedError):
        check_url("https://evilexample.test/", AddressRules(domains_allowed=("*.example.test",)))


def test_an_address_is_no_way_around_a_list_of_names() -> None:
    rules = AddressRules(domains_allowed=("tools.example",))
    with pytest.raises(UrlRefusedError):
        check_url("https://1.1.1.1/", rules)


def test_ports_and_schemes_go_by_the_rules() -> None:
    check_url("https://tools.example:8443/", AddressRules(ports=(8443,)))
    with pytest.raises(UrlRefusedError, match="port 22"):
        check_url("https://tools.example:22/", AddressRules())
    with pytest.raises(UrlRefusedError, match="https"):
        check_url("http://tools.example/", AddressRules(schemes=("https",)))


@settings(deadline=None)
@given(
    st.text(alphabet=st.characters(max_codepoint=0x2FF), max_size=40)
    | st.text(alphabet="htps:/.@[]%#?0x127\\a", max_size=30)
)
def test_any_text_is_either_read_plainly_or_refused(text: str) -> None:
    for url in (text, f"http://{text}", f"https://{text}/"):
        try:
            target = read_target(url)
        except UrlRefusedError:
            continue
        assert url.isascii()
        assert target.scheme in {"http", "https"}
        assert httpx2.URL(url).raw_host.decode() == target.host or target.address is not None
        assert target.host.replace("[", "") in url.lower().replace("[", "") or target.address is not None
