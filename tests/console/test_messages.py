"""Both languages are complete."""

from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from django.conf import settings

CATALOGUES = sorted((Path(settings.BASE_DIR) / "locale").glob("*/LC_MESSAGES/django.po"))


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_no_text_is_empty_or_doubtful_and_placeholders_agree(path: Path) -> None:
    with path.open("rb") as file:
        catalogue = read_po(file)
    for message in catalogue:
        if not message.id:
            continue
        strings = [message.string] if isinstance(message.string, str) else list(message.string or ())
        assert not message.fuzzy, message.id
        assert strings and all(strings), message.id
        assert list(message.check(catalogue)) == [], message.id


def test_chinese_is_one_of_them() -> None:
    assert "zh_Hans" in {path.parts[-3] for path in CATALOGUES}
