"""The page that imports rules by sender: a dry run first, then exactly the table that was tried."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.policies.models import ChannelGroup, SenderRule

ClientOf = Callable[..., Client]
TABLE = "key,allow,also_allow,deny\nid:7,,,exec\n@lead,,,exec\n"


def page(part: str = "import/") -> str:
    return f"/groups/{ChannelGroup.objects.get(key='-100').pk}/senders/{part}"


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_only_an_admin_imports(name: str, client_of: ClientOf, draft: Any, request: pytest.FixtureRequest) -> None:
    browser = client_of(request.getfixturevalue(name))
    assert browser.get(page()).status_code == 403
    assert browser.post(page(), {"text": TABLE, "do": "apply"}).status_code == 403
    assert browser.get(page("export/")).status_code == (403 if name == "outsider" else 200)


def test_a_table_is_tried_and_then_taken(client_of: ClientOf, draft: Any, admin: Any) -> None:
    browser = client_of(admin)
    assert browser.get(page()).status_code == 200
    tried = browser.post(page(), {"text": TABLE, "do": "try"})
    assert (tried.status_code, tried.context["counts"]) == (
        200,
        [("refused", 0), ("changed", 0), ("added", 2), ("unchanged", 0)],
    )
    assert SenderRule.objects.count() == 0
    seen = tried.context["form"].initial["seen"]
    taken = browser.post(page(), {"text": TABLE.replace("\n", "\r\n"), "do": "apply", "seen": seen})
    assert taken.status_code == 302
    assert set(SenderRule.objects.values_list("key", flat=True)) == {"id:7", "@lead"}


def test_another_table_than_the_one_tried_is_not_taken(client_of: ClientOf, draft: Any, admin: Any) -> None:
    browser = client_of(admin)
    seen = browser.post(page(), {"text": TABLE, "do": "try"}).context["form"].initial["seen"]
    for sent in (seen, ""):
        answer = browser.post(page(), {"text": TABLE + "id:9,,,exec\n", "do": "apply", "seen": sent})
        assert answer.status_code == 409
        assert "This is another table than the one that was tried" in answer.content.decode()
    assert SenderRule.objects.count() == 0


def test_a_file_goes_before_a_text_and_comes_back_as_text(client_of: ClientOf, draft: Any, admin: Any) -> None:
    file = SimpleUploadedFile("senders.csv", b"\xef\xbb\xbf" + TABLE.encode(), content_type="text/csv")
    answer = client_of(admin).post(page(), {"file": file, "text": "key\nid:1\n", "do": "try"})
    assert answer.context["report"].counts["added"] == 2
    assert "id:7,,,exec" in answer.content.decode()


def test_refused_rows_are_shown_with_line_field_and_rule(client_of: ClientOf, draft: Any, admin: Any) -> None:
    hostile = 'key,deny\nid:7,exec\nid:7,exec\n"<img src=x>\u202e",exec\n=1+1,exec\n'
    answer = client_of(admin).post(page(), {"text": hostile, "do": "try"})
    text = answer.content.decode()
    assert answer.status_code == 422
    assert [(row.line, row.mistake.field, row.mistake.code) for row in answer.context["shown"] if row.mistake] == [
        (3, "key", "repeated"),
        (4, "key", "invisible"),
        (5, "key", "formula"),
    ]
    assert "<img src=x>" not in text
    assert 'value="apply"' not in text


@pytest.mark.parametrize("sent", [{}, {"text": ""}, {"text": "allow\nread\n"}, {"text": 'key\n"'}])
def test_nothing_and_what_is_no_table_are_refused(
    sent: dict[str, str], client_of: ClientOf, draft: Any, admin: Any
) -> None:
    answer = client_of(admin).post(page(), sent | {"do": "try"})
    assert answer.status_code == 422
    assert SenderRule.objects.count() == 0


def test_bytes_that_are_no_utf_8_name_their_line(client_of: ClientOf, draft: Any, admin: Any) -> None:
    file = SimpleUploadedFile("senders.csv", b"key,deny\nid:7,\xe9\n", content_type="text/csv")
    answer = client_of(admin).post(page(), {"file": file, "do": "try"})
    assert answer.status_code == 422
    assert "line 2 is not UTF-8" in answer.content.decode()


@pytest.mark.parametrize("start", ["/agents/main/senders/", "/global/senders/"])
def test_agents_and_everybody_have_the_same_page(start: str, client_of: ClientOf, draft: Any, admin: Any) -> None:
    browser = client_of(admin)
    seen = browser.post(f"{start}import/", {"text": TABLE, "do": "try"}).context["form"].initial["seen"]
    answer = browser.post(f"{start}import/", {"text": TABLE, "do": "apply", "seen": seen})
    assert (answer.status_code, answer["Location"]) == (302, start)
    written = b"".join(browser.get(f"{start}export/").streaming_content).decode("utf-8-sig")  # type: ignore[attr-defined]
    assert written.splitlines() == ["key,allow,also_allow,deny", "id:7,,,exec", "'@lead,,,exec"]
