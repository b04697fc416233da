"""How a form shows what a service refused."""

from django import forms

from apps.accounts.errors import UserInvalidError
from apps.console.forms import ConsoleForm


class Form(ConsoleForm):
    name = forms.CharField(required=False)


def refused(*details: tuple[str, str]) -> Form:
    form = Form({})
    given = [{"path": path, "code": "invalid", "message": message} for path, message in details]
    form.take_refusal(UserInvalidError("nothing was changed", given))
    return form


def test_each_mistake_stands_beside_its_field_and_the_rest_above_the_form() -> None:
    form = refused(("name", "too long"), ("name.first", "too loud"), ("elsewhere", "not there"))
    assert form.errors == {"name": ["too long", "too loud"], "__all__": ["not there"]}


def test_a_refusal_that_names_no_place_is_shown_as_it_is() -> None:
    assert refused().errors == {"__all__": ["nothing was changed"]}
