"""What is published is live in a running server at once; what cannot be trusted denies everything."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.policies.models import Publication
from apps.policies.selectors import permission_grants
from apps.policies.services import document_import, permission_grant_create, publish
from tests.gateway.server import Server
from tests.gateway.test_decisions import Token, ask, eventually


@pytest.fixture
def publishing(transactional_db: None, environment: Any, tmp_path: Path, settings: Any) -> Iterator[Server]:
    """A server that serves the real publications."""
    settings.VAR_DIR = tmp_path / "var"
    running = Server().start()
    yield running
    running.stop()


def published(environment: Any, document: str) -> Publication:
    """Publish a document. Whoever calls may do what tools ask for: here, it is other rules that are looked at."""
    document_import(environment, document, by=None)
    if not permission_grants(environment).exists():
        permission_grant_create(environment, "everything", by=None, permissions=["*"], agent="*")
    last = Publication.objects.filter(environment=environment).values_list("snapshot_id", flat=True).first()
    return publish(environment, by=None, message="a change", expected_live=last)


def test_a_publication_decides_at_once_and_the_next_one_replaces_it(
    publishing: Server, environment: Any, token: Token
) -> None:
    with publishing.client(token("decisions_ask")[1]) as client:
        assert ask(client).json()["reason"] == "no_publication"

        first = published(environment, '{"agents": {"entries": {"bot": {}}}}')
        assert eventually(lambda: ask(client).json()["snapshot"] == first.snapshot_id)
        assert ask(client).json()["allowed"] is True

        second = published(environment, '{"agents": {"entries": {"bot": {"tools": {"deny": ["read"]}}}}}')
        assert eventually(lambda: ask(client).json()["snapshot"] == second.snapshot_id)
        assert ask(client).json()["allowed"] is False


def test_a_publication_that_cannot_be_trusted_denies_everything(
    publishing: Server, environment: Any, token: Token, monkeypatch: pytest.MonkeyPatch
) -> None:
    def untrusted(slug: str) -> None:
        from apps.policies.errors import SnapshotUntrustedError

        raise SnapshotUntrustedError("the signature does not fit")

    with publishing.client(token("decisions_ask")[1]) as client:
        first = published(environment, '{"agents": {"entries": {"bot": {}}}}')
        assert eventually(lambda: ask(client).json()["snapshot"] == first.snapshot_id)

        from apps.gateway.lifecycle import gateway

        monkeypatch.setattr(gateway().snapshots, "_load", untrusted)
        publishing.run(gateway().snapshots.reload())

        assert ask(client).json() == {"tool": "read", "allowed": False, "reason": "no_publication", "snapshot": None}


def test_a_database_that_does_not_answer_changes_nothing_that_is_live(
    publishing: Server, environment: Any, token: Token, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(slug: str) -> None:
        raise ConnectionError

    with publishing.client(token("decisions_ask")[1]) as client:
        first = published(environment, '{"agents": {"entries": {"bot": {}}}}')
        assert eventually(lambda: ask(client).json()["snapshot"] == first.snapshot_id)

        from apps.gateway.lifecycle import gateway

        monkeypatch.setattr(gateway().snapshots, "_load", away)
        with pytest.raises(ConnectionError):
            publishing.run(gateway().snapshots.reload())

        assert ask(client).json()["snapshot"] == first.snapshot_id
