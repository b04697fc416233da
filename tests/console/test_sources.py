"""Discovery sources: the list, the form with its masked secrets, looks and what they found."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.registry.models import DiscoverySource, Tool
from apps.registry.services import run_start, source_create
from apps.registry.source_settings import source_secrets
from tests.registry.conftest import broken, found, look, source  # noqa: F401 - fixtures

ClientOf = Callable[..., Client]
BASE = {"interval_s": "0", "on_new": "activate", "on_drift": "refuse", "is_enabled": "on", "name": ""}


@pytest.fixture
def remote(environment: Any, admin: Any) -> DiscoverySource:
    settings = {
        "url": "https://tools.example/registry",
        "auth_token": "s3cret-token",
        "headers": {"X-Team": "blue-sky"},
    }
    return source_create(environment, key="acme", kind="remote", settings=settings, by=admin)


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_them(
    name: str,
    client_of: ClientOf,
    remote: DiscoverySource,
    request: pytest.FixtureRequest,
) -> None:
    browser = client_of(request.getfixturevalue(name))
    assert browser.get("/sources/").status_code == 200
    assert browser.get("/sources/acme/").status_code == 200


def test_no_secret_reaches_a_page(client_of: ClientOf, remote: DiscoverySource, admin: Any) -> None:
    browser = client_of(admin)
    for path in ("/sources/acme/", "/source/edit/acme/"):
        text = browser.get(path).content.decode()
        assert "s3cret-token" not in text
        assert "blue-sky" not in text
        assert "12 characters" in text


def test_the_list_tells_the_last_look_and_its_error(
    client_of: ClientOf,
    look: Callable[..., Any],  # noqa: F811
    viewer: Any,
) -> None:
    look(found("files__list"), broken("bad.py"))
    (row,) = client_of(viewer).get("/sources/").context["rows"]
    assert (row.tools, row.last.record.broken, row.last.record.state) == (1, 1, "completed")


def test_without_sources_it_says_so(client_of: ClientOf, environment: Any, viewer: Any, admin: Any) -> None:
    assert "No sources yet" in client_of(viewer).get("/sources/").content.decode()
    assert "/source/new/" not in client_of(viewer).get("/sources/").content.decode()
    assert "/source/new/" in client_of(admin).get("/sources/").content.decode()


def test_a_look_shows_what_is_broken_first_and_why(
    client_of: ClientOf,
    look: Callable[..., Any],  # noqa: F811
    viewer: Any,
) -> None:
    run = look(found("files__list"), broken("bad.py", message="no module `x`"))
    answer = client_of(viewer).get(f"/sources/files/?run={run.shown_id}")
    first = answer.context["findings"][0]
    assert (first.tool, first.message, first.code) == ("bad.py", "no module `x`", "import_failed")
    assert client_of(viewer).get("/sources/files/?run=run_nonsense").status_code == 404


@pytest.mark.parametrize(
    "kind",
    [
        *("mcp_stdio", "mcp_http", "remote", "folder", "file", "entry_points", "openclaw_plugins"),
        *("own_files", "own_shell", "own_http", "own_browser", "own_email", "own_databases"),
    ],
)
def test_each_kind_has_its_form(kind: str, client_of: ClientOf, environment: Any, admin: Any) -> None:
    answer = client_of(admin).get(f"/source/new/?kind={kind}")
    assert answer.status_code == 200
    assert [field.name for field in answer.context["form"].usual_fields]


def test_an_admin_adds_a_server(client_of: ClientOf, environment: Any, admin: Any) -> None:
    members = BASE | {"key": "units", "set_command": "/usr/bin/python3\nserver.py", "set_env": "TOKEN=abc def\nMODE=x"}
    answer = client_of(admin).post("/source/new/?kind=mcp_stdio", members)
    assert (answer.status_code, answer["Location"]) == (302, "/sources/units/")
    made = DiscoverySource.objects.get(key="units")
    assert made.settings["command"] == ["/usr/bin/python3", "server.py"]
    assert source_secrets(made) == {"env.TOKEN": "abc def", "env.MODE": "x"}


def test_mistakes_are_told_at_their_fields(client_of: ClientOf, environment: Any, admin: Any) -> None:
    members = BASE | {"key": "x", "set_url": "ftp://nowhere", "set_allow_networks": "10.0.0.0/99"}
    answer = client_of(admin).post("/source/new/?kind=mcp_http", members)
    assert answer.status_code == 422
    errors = answer.context["form"].errors
    assert set(errors) == {"set_url"}
    assert not DiscoverySource.objects.exists()
    again = client_of(admin).post("/source/new/?kind=mcp_http", members | {"set_url": "https://a.example"})
    assert set(again.context["form"].errors) == {"set_allow_networks"}
    assert again.context["form"].has_rare


def as_shown(browser: Client) -> dict[str, Any]:
    """What a browser would send back of the form as it is."""
    form = browser.get("/source/edit/acme/").context["form"]
    shown = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    return shown | {"is_enabled": "on"}


def test_a_mask_that_stays_keeps_its_secret(client_of: ClientOf, remote: DiscoverySource, admin: Any) -> None:
    browser = client_of(admin)
    members = as_shown(browser) | {"set_url": "https://tools.example/newer"}
    assert browser.post("/source/edit/acme/", members).status_code == 302
    saved = DiscoverySource.objects.get(key="acme")
    assert saved.settings["url"] == "https://tools.example/newer"
    assert source_secrets(saved) == {"auth_token": "s3cret-token", "headers.X-Team": "blue-sky"}


def test_another_server_is_not_given_what_was_kept(client_of: ClientOf, remote: DiscoverySource, admin: Any) -> None:
    browser = client_of(admin)
    answer = browser.post("/source/edit/acme/", as_shown(browser) | {"set_url": "https://elsewhere.example/"})
    assert answer.status_code == 422
    assert set(answer.context["form"].errors) == {"set_auth_token", "set_headers"}
    assert DiscoverySource.objects.get(key="acme").settings["url"] == "https://tools.example/registry"


def test_a_new_text_replaces_a_secret_and_an_empty_one_removes_it(
    client_of: ClientOf, remote: DiscoverySource, admin: Any
) -> None:
    members = BASE | {"set_url": "https://tools.example/registry", "set_auth_token": "fresh", "version": "1"}
    assert client_of(admin).post("/source/edit/acme/", members).status_code == 302
    assert source_secrets(DiscoverySource.objects.get(key="acme")) == {"auth_token": "fresh"}


def test_a_stale_form_saves_nothing(client_of: ClientOf, remote: DiscoverySource, admin: Any) -> None:
    members = BASE | {"set_url": "https://tools.example/registry", "version": "0"}
    answer = client_of(admin).post("/source/edit/acme/", members)
    assert answer.status_code == 409
    assert "Nothing was saved" in answer.content.decode()


def test_looking_shows_how_far_it_is_and_does_not_begin_twice(
    client_of: ClientOf,
    source: DiscoverySource,  # noqa: F811
    admin: Any,
) -> None:
    browser = client_of(admin)
    answer = browser.post("/source/look/files/", headers={"hx-request": "true"})
    assert "Looking through it" in answer.content.decode()
    assert 'hx-trigger="every 1s"' in answer.content.decode()
    assert source.runs.get().state == "running"
    assert browser.post("/source/look/files/").status_code == 422
    assert source.runs.count() == 1


def test_a_look_that_is_over_asks_no_more(
    client_of: ClientOf,
    look: Callable[..., Any],  # noqa: F811
    viewer: Any,
) -> None:
    look(found("files__list"))
    assert "every 1s" not in client_of(viewer).get("/source/looks/files/").content.decode()


def test_removing_asks_first_and_takes_the_tools_with_it(
    client_of: ClientOf,
    look: Callable[..., Any],  # noqa: F811
    admin: Any,
) -> None:
    look(found("files__list"))
    browser = client_of(admin)
    assert "files__list" in browser.get("/source/remove/files/").content.decode()
    assert DiscoverySource.objects.filter(key="files").exists()
    assert browser.post("/source/remove/files/", {"version": "1"}).status_code == 302
    assert not DiscoverySource.objects.filter(key="files").exists()
    assert Tool.objects.get(name="files__list").state == "unregistered"


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_changes_one(
    name: str,
    client_of: ClientOf,
    source: DiscoverySource,  # noqa: F811
    request: pytest.FixtureRequest,
) -> None:
    browser = client_of(request.getfixturevalue(name))
    for path in ("new", "look/files", "edit/files", "remove/files"):
        assert browser.post(f"/source/{path}/", BASE).status_code == 403
    assert not source.runs.exists()


def test_more_sources_cost_no_more_queries(
    client_of: ClientOf, environment: Any, viewer: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(viewer)
    for number in range(8):
        made = source_create(environment, key=f"s{number}", kind="folder", settings={"scan_directories": ["/srv"]})
        run_start(made)
    browser.get("/sources/")
    with django_assert_max_num_queries(12):
        assert browser.get("/sources/").status_code == 200


def test_the_secrets_of_a_tool_file_are_given_kept_replaced_and_removed(
    client_of: ClientOf, environment: Any, admin: Any
) -> None:
    browser = client_of(admin)
    given = {"key": "rooms", "set_path": "/srv/tools.yaml", "set_secrets": "DOOR_KEY=sesame-123\nALARM=off-4711"}
    assert browser.post("/source/new/?kind=file", BASE | given).status_code == 302
    made = DiscoverySource.objects.get(key="rooms")
    assert source_secrets(made) == {"DOOR_KEY": "sesame-123", "ALARM": "off-4711"}
    for path in ("/sources/rooms/", "/source/edit/rooms/"):
        page = browser.get(path).content.decode()
        assert "DOOR_KEY" in page
        assert "sesame" not in page

    shown = browser.get("/source/edit/rooms/").context["form"]["set_secrets"].value()
    masks = dict(line.split("=", 1) for line in shown.splitlines())
    again = {"set_path": "/srv/tools.yaml", "version": "1"}
    kept = {"set_secrets": f"DOOR_KEY={masks['DOOR_KEY']}\nALARM=on-0815"}
    assert browser.post("/source/edit/rooms/", BASE | again | kept).status_code == 302
    made.refresh_from_db()
    assert source_secrets(made) == {"DOOR_KEY": "sesame-123", "ALARM": "on-0815"}
    fewer = {"set_secrets": f"DOOR_KEY={masks['DOOR_KEY']}", "version": str(made.version)}
    assert browser.post("/source/edit/rooms/", BASE | again | fewer).status_code == 302
    made.refresh_from_db()
    assert source_secrets(made) == {"DOOR_KEY": "sesame-123"}
