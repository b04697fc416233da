"""What every test may use: the database under the application's role, and the fixed cast of people.

Migrations run as the owner role; then every connection signs in as the application role, so that a test
meets the same refusals as production. Where DATABASE_URL is the only role, tests run as it.
"""

import asyncio
import gc
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, settings

from tests import database
from tests.loops import WatchedLoop
from tests.receiver import Receiver

PASSWORD = "correct horse battery"

# Properties are judged by their truth, not by how busy the machine is or what a seed happens to bring: `make test`
# tries the same examples each time, `make test-fast` fewer of them, `make test-all` others each time.
BUSY = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large, HealthCheck.large_base_example]
settings.register_profile("searching", deadline=None, derandomize=False, suppress_health_check=BUSY)
settings.register_profile("thorough", settings.get_profile("searching"), derandomize=True, database=None)
settings.register_profile("brief", settings.get_profile("thorough"), max_examples=20)
settings.load_profile("thorough")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files of long tests: processes that share the files then end at the same time."""
    long = {item.path for item in items if "ops" in item.path.parts or item.get_closest_marker("unhurried")}
    items.sort(key=lambda item: item.path not in long)


def pytest_collection_finish() -> None:
    """Keep the collector of garbage from walking through thousands of tests again and again."""
    gc.collect()
    gc.freeze()


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run tests in the event loop that the server runs, and those marked `every_loop` in that of its workers, too."""
    served: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"uvloop": WatchedLoop}
    if item.get_closest_marker("every_loop"):
        served["asyncio"] = asyncio.new_event_loop
    return served


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Connect as the owner, who may create the test database and migrate it."""
    database.connect_as_owner()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Migrate as the owner, then serve as the application."""
    with django_db_blocker.unblock():
        database.grant_to_application()
        database.serve_as_application()
    with database.flush_as_owner():
        yield
    from apps.audit.writer import close_writer

    close_writer()
    with django_db_blocker.unblock():  # no connection may keep the test database from being dropped
        database.end_other_sessions()
        database.connect_as_owner()
        database.end_other_sessions()


@pytest.fixture
def empty_ledger(db: None) -> None:
    """Begin with no entries: those of other tests were committed and stay."""
    database.empty_ledger()


_left_behind = {"is_possible": False}


@pytest.fixture(autouse=True)
def _clean_start(request: pytest.FixtureRequest) -> None:
    """Let the first test that commits find nothing of those before it, which were rolled back but for the ledger."""
    marker = request.node.get_closest_marker("django_db")
    if "transactional_db" in request.fixturenames or (marker is not None and marker.kwargs.get("transaction")):
        if _left_behind["is_possible"]:
            request.getfixturevalue("django_db_setup")
            database.empty_ledger()
        _left_behind["is_possible"] = False
    elif marker is not None or "db" in request.fixturenames:
        _left_behind["is_possible"] = True


@pytest.fixture
def make_user(db: None) -> Callable[..., Any]:
    """Make a person: `make_user("anna", role="operator")`; the password is `conftest.PASSWORD`."""
    from apps.accounts.models import User

    def make(username: str, *, role: str = "", **fields: Any) -> User:
        user = User(username=username, display_name=username.capitalize(), role=role, **fields)
        user.password = _hashed()
        user.save()
        return user

    return make


def _hashed(cache: list[str] = []) -> str:  # noqa: B006 - one slow hash for all people
    from django.contrib.auth.hashers import make_password

    if not cache:
        cache.append(make_password(PASSWORD))
    return cache[0]


@pytest.fixture
def admin(make_user: Callable[..., Any]) -> Any:
    return make_user("admin", role="admin")


@pytest.fixture
def operator(make_user: Callable[..., Any]) -> Any:
    return make_user("operator", role="operator")


@pytest.fixture
def auditor(make_user: Callable[..., Any]) -> Any:
    return make_user("auditor", role="auditor")


@pytest.fixture
def viewer(make_user: Callable[..., Any]) -> Any:
    return make_user("viewer", role="viewer")


@pytest.fixture
def outsider(make_user: Callable[..., Any]) -> Any:
    """Somebody who may sign in and has no role: every permission is missing."""
    return make_user("outsider")


@pytest.fixture
def environment(db: None) -> Any:
    """The default environment, with the core catalogue."""
    from apps.registry.services import environment_default

    return environment_default()


@pytest.fixture
def client_of(db: None) -> Callable[..., Client]:
    """Give a browser in which somebody is signed in: `client_of(operator).get("/")`; None for nobody."""

    def client(user: Any | None = None, **options: Any) -> Client:
        browser = Client(**options)
        if user is not None:
            browser.force_login(user)
        return browser

    return client


@pytest.fixture
def token(db: None) -> Callable[..., tuple[Any, str]]:
    """Make a token: `row, secret = token("calls_make", environment="production")`."""
    from apps.accounts.services import token_create

    def make(*scopes: str, environment: str = "", **options: Any) -> tuple[Any, str]:
        return token_create(
            name=options.pop("name", "test"),
            scopes=scopes or ("calls_make", "decisions_ask"),
            environment=environment,
            by=options.pop("by", None),
            **options,
        )

    return make


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """Listen on loopback, which callbacks and notifications may reach for the while of a test."""
    made = Receiver()
    settings.CALLBACK_NETWORKS, settings.CALLBACK_PORTS = ["127.0.0.0/8"], [made.port]
    yield made
    made.close()


@pytest.fixture
def replays_enqueued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No worker runs beside a test: the replays that it is handed are kept here."""
    from apps.policies.tasks import replay_run_task

    handed: list[str] = []
    monkeypatch.setattr(replay_run_task, "delay", handed.append)
    return handed
