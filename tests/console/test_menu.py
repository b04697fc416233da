"""The menu shows what exists and what a person may open."""

from collections.abc import Callable
from typing import Any

from django.test import Client, RequestFactory
from django.urls import resolve
from django.utils.translation import gettext_lazy as _

from apps.console.menu import Entry, Section, audit_tabs, links_of


def test_an_entry_shows_only_to_those_who_may_open_its_page(
    client_of: Callable[..., Client], admin: Any, viewer: Any, environment: Any
) -> None:
    for_admin = client_of(admin).get("/settings/").content.decode()
    for_viewer = client_of(viewer).get("/settings/").content.decode()
    assert 'class="item" href="/users/"' in for_admin
    assert 'class="item" href="/users/"' not in for_viewer
    assert 'class="item" href="/approvals/"' in for_viewer


def test_a_page_that_does_not_exist_has_no_entry(rf: RequestFactory, admin: Any) -> None:
    request = rf.get("/settings/")
    request.user, request.resolver_match = admin, resolve("/settings/")
    section = Section(
        _("Settings"),
        (Entry("nowhere", _("Settings"), "x", "nowhere"), Entry("settings", _("Settings"), "x", "settings")),
    )
    assert [link.url for link in links_of(request, section)] == ["/settings/"]


def test_the_current_page_is_marked_also_on_its_sub_pages(
    client_of: Callable[..., Client], admin: Any, viewer: Any, environment: Any
) -> None:
    page = client_of(admin).get(f"/users/{viewer.shown_id}/").content.decode()
    assert 'class="item" href="/users/" aria-current="page"' in page
    assert page.count('class="item" href="/settings/" aria-current') == 0


def test_an_installation_without_an_environment_still_opens(client_of: Callable[..., Client], viewer: Any) -> None:
    assert client_of(viewer).get("/settings/").status_code == 200


def test_each_page_of_the_ledger_marks_its_own_tab(environment: Any, auditor: Any, rf: RequestFactory) -> None:
    request = rf.get("/audit/")
    request.user, request.resolver_match = auditor, resolve("/audit/")
    assert next((str(link.label), link.is_current) for link in audit_tabs(request)) == ("Calls", True)
