"""Identifiers in files of exports: the database writes them as pages and the API show them."""

from uuid import UUID, uuid4

import pytest
from django.db import connection

from apps.audit.formats import PREFIXES, shown_id
from apps.firewall.identifiers import show_id

pytestmark = pytest.mark.django_db

EDGES = [UUID(int=number) for number in (0, 1, 31, 32, 2**64 - 1, 2**64, 2**127, 2**128 - 1)]
EACH_BIT = [UUID(int=1 << bit) for bit in range(128)]


@pytest.mark.parametrize("prefix", PREFIXES.values())
def test_the_database_writes_each_as_everybody_does(prefix: str) -> None:
    wanted = [*EDGES, *EACH_BIT, *(uuid4() for _ in range(2_000))]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {shown_id(prefix, 'id')} FROM unnest(%s::uuid[]) AS id", [wanted])
        found = [text for (text,) in cursor.fetchall()]
    assert found == [show_id(prefix, each) for each in wanted]


def test_none_stays_none() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {shown_id('call', 'NULL::uuid')}")
        assert cursor.fetchone() == (None,)
