"""Identifiers in URLs: each kind has its prefix, another prefix is another page."""

import re

import pytest

from apps.accounts.converters import CONVERTERS, IdConverter
from apps.firewall.identifiers import new_id


@pytest.mark.parametrize("name", CONVERTERS)
def test_a_url_takes_its_own_kind_only(name: str) -> None:
    converter: IdConverter = CONVERTERS[name]()
    identifier = new_id()
    shown = converter.to_url(identifier)
    assert re.fullmatch(converter.regex, shown)
    assert converter.to_python(shown) == identifier
    assert converter.to_url(shown) == shown
    assert not any(re.fullmatch(other.regex, shown) for key, other in CONVERTERS.items() if key != name)
