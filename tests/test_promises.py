"""docs/promises.md against the documents that promise and the suite that proves."""

from pathlib import Path

import pytest

from tests.promises import DOCUMENTS, PAGE, PROMISING, ROOT, lines, sentences, suite_of

PROMISES, OTHERS = lines()


def test_every_promise_names_a_test_that_exists_and_runs() -> None:
    wrong = []
    for line in PROMISES:
        if not line.tests:
            wrong.append((line.sentence, "names no test"))
        for path, name in line.tests:
            tests = suite_of(path) if (ROOT / path).is_file() else {}
            if tests.get(name, True):
                wrong.append((f"{path}::{name}", "is skipped" if name in tests else "does not exist"))

    assert wrong == []


def test_every_sentence_stands_where_the_page_says() -> None:
    said = {document: set(sentences((ROOT / document).read_text())) for document in DOCUMENTS}
    gone = [
        line for line in (*PROMISES, *OTHERS) if (line.section, line.sentence) not in said.get(line.document, set())
    ]

    assert gone == [], "the documents say this no longer, or elsewhere: change docs/promises.md with them"


def test_no_sentence_that_promises_is_missing() -> None:
    known = {(line.document, line.sentence) for line in (*PROMISES, *OTHERS)}
    missing = [
        (document, section, sentence)
        for document in DOCUMENTS
        for section, sentence in sentences((ROOT / document).read_text())
        if PROMISING.search(sentence) and (document, sentence) not in known
    ]

    assert missing == [], "say in docs/promises.md which test proves these, or why they promise nothing"


def test_what_promises_nothing_says_why() -> None:
    assert [line for line in OTHERS if len(line.said) < 10] == []
    promised = {(each.document, each.section, each.sentence) for each in PROMISES}
    assert [each for each in OTHERS if (each.document, each.section, each.sentence) in promised] == []


def test_every_document_of_promises_is_read() -> None:
    assert {line.document for line in PROMISES} == set(DOCUMENTS) and PAGE.is_file()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# A\n\nOne. Two\nlines.\n\n- Item a: B.\n- Item c\n", ["One.", "Two lines.", "Item a:", "B.", "Item c"]),
        ("| a | `x \\| y` |\n|---|---|\n| b | c. D. |\n", ["a", "`x | y`", "b", "c.", "D."]),
        ("```\nnever\n```\nYes.\n", ["Yes."]),
    ],
)
def test_documents_are_cut_into_sentences(text: str, found: list[str]) -> None:
    assert [sentence for _, sentence in sentences(text)] == found


def test_skipped_tests_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "test_x.py").write_text(
        "import pytest\n@pytest.mark.skip\ndef test_a(): ...\n@pytest.mark.slow\ndef test_b(): ...\n"
        "class TestC:\n    @pytest.mark.xfail(reason='x')\n    def test_d(self): ...\n"
    )
    monkeypatch.setattr("tests.promises.ROOT", tmp_path)
    suite_of.cache_clear()

    assert suite_of("test_x.py") == {"test_a": True, "test_b": False, "test_d": True}
    suite_of.cache_clear()
