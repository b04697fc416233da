"""Lines that lie to the eye: on the card they say what they are, and what is shown, bound and run is one thing."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.agents import Program, every_command_waits
from tests.journeys.conftest import Installation

pytestmark = [pytest.mark.journey, pytest.mark.slow]

HOSTILE = (
    # direction
    "echo safe \u202e moc.elpmaxe",
    "echo \u202dleft\u202c right",
    "echo \u2066isolated\u2069 and not",
    "echo \u2067turned\u2069 ; echo after",
    "echo \u200fmarks\u200e here",
    "echo x # \u202e1 elur yb dewolla",
    "echo \u05d0\u05d1/\u05d2 \u05d3 | cat",
    "echo \u0627\u0644/../x && echo \u0627",
    # nothing to see
    "echo a\u200bb",
    "echo a\u200cb\u200dc",
    "echo \ufeffmark",
    "echo a\u2060b",
    "echo soft\u00adhyphen",
    "echo \u00a0blank\u2003blank\u3000blank",
    "echo \u3164filler\u115f\u1160",
    "echo tag\U000e0041\U000e0042",
    "echo 'a\u2028b\u2029c'",
    # terminals
    "echo $'\\x1b[31mred'",
    "echo '\x1b[2J\x1b[H cleared'",
    "echo '\x1b]0;title\x07'",
    "echo '\x08\x08\x08 back'",
    "echo 'seen\r overwritten'",
    "echo 'tab\there'",
    # letters that look like others
    "echo /usr/bin/\u0441url",
    "ls ./\u0435tc/passwd",
    "echo a\u2215b\u2044c\uff0fd",
    "echo \u2010\u2011\u2013\u2212rf",
    "echo \uff52\uff4d x",
    "echo \U0001d41a\U0001d41b",
    "echo 'e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301'",
    "echo \U0001f468\u200d\U0001f4bb family",
    # markup and quotes
    "echo '<script>window.evil=1</script>'",
    "echo '<img src=x onerror=window.evil=1>'",
    "echo '\"><svg onload=window.evil=1>'",
    "echo '{{ 7 }} {% load x %} &lt;b&gt; %(name)s'",
    'echo "a \'b \\"c\\" d\' e"',
    "echo 'it'\\''s' \"$(echo \"nested $(echo 'deep')\")\"",
    "echo `echo back` && bash -c \"bash -c 'echo inner'\"",
    # length
    "echo " + "a" * 12_000,
    "echo " + "wide " * 2_000,
    "echo x" + " " * 6_000 + "; echo hidden",
    "echo x" + "\n" * 300 + "echo far below",
)
REFUSED = ("echo a\x00b", "echo " + "a" * 1_048_576, "echo 'open")

# What a person sees of a drawn line: codes read back as what they stand for, marks of our own left out.
READ_BACK = """pre => {
  const copy = pre.cloneNode(true);
  copy.querySelectorAll(".n, .visually-hidden, [aria-hidden=true]").forEach(each => each.remove());
  const letter = code => String.fromCodePoint(parseInt(code.slice(2), 16));
  copy.querySelectorAll(".hidden-char").forEach(each => each.replaceWith(letter(each.textContent)));
  copy.querySelectorAll(".cut").forEach(each => each.replaceWith("\\u0000"));
  return copy.textContent;
}"""
# Every glyph stands to the right of the one before it, or on a lower row: nothing was turned around.
IN_ORDER = """pre => {
  const walker = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
  const letters = new Intl.Segmenter("en", { granularity: "grapheme" });
  let left = -1, top = -1, seen = 0;
  for (let node = walker.nextNode(); node && seen < 800; node = walker.nextNode()) {
    if (node.parentElement.closest(".n, .visually-hidden")) continue;
    for (const { segment, index } of letters.segment(node.data)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + segment.length);
      const box = range.getBoundingClientRect();
      if (!box.width || !segment.trim()) continue;
      if (Math.abs(box.top - top) < 8 && box.left < left - 1) return `${segment} at ${box.left} after ${left}`;
      left = box.left; top = box.top; seen += 1;
    }
  }
  return "";
}"""
UNSEEN = r"""() => (document.body.innerText.match(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164]/gu) || [])
  .filter(letter => !"\n\t\r".includes(letter)).map(letter => letter.codePointAt(0).toString(16))"""


@pytest.fixture(scope="module")
def asking(installation: Installation) -> Installation:
    """An installation where every command of the agent waits for a person."""
    every_command_waits(installation)
    return installation


def test_hostile_lines_are_shown_bound_and_run_as_what_they_are(
    asking: Installation, sign_in: Any, tmp_path: Path
) -> None:
    agent = Program(asking)
    page = sign_in("operator").page
    assert len(HOSTILE) + len(REFUSED) >= 40
    for command in HOSTILE:
        waiting = agent.asks(command)
        card = f"{asking.url}/approvals/{waiting['approval']['id']}/card/"
        _is_shown_as_it_is(page, card, command)
        page.get_by_role("button", name="Allow once").click()
        ended = agent.ends(waiting["id"])
        assert ended["status"] == "completed", (command[:80], ended)
        assert _told(ended["result"]) == _ran_by_bash(command, tmp_path), command[:80]
    assert page.evaluate("window.evil") is None


def test_what_cannot_be_shown_is_never_asked(asking: Installation) -> None:
    agent = Program(asking)
    for command in REFUSED:
        answer = agent.calls(command)
        assert answer.status_code >= 400 or answer.json()["status"] == "denied", command[:80]
        assert "approval" not in answer.json() or not answer.json()["approval"]


def _is_shown_as_it_is(page: Page, card: str, command: str) -> None:
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(card)
        line = page.locator("pre.cmd")
        expect(line).to_be_visible()
        head, cut, tail = line.evaluate(READ_BACK).partition("\0")
        assert command.startswith(head), (command[:80], head[:80])
        assert command.endswith(tail) if cut else head == command, (command[-80:], tail[-80:])
        if cut:
            left_out = f"{len(command) - len(head) - len(tail):,}"
            expect(page.locator("article")).to_contain_text(f"{left_out} characters are left out here.")
            expect(page.get_by_role("link", name="Read all of it")).to_be_visible()
        assert line.evaluate(IN_ORDER) == "", command[:80]
        assert page.evaluate(UNSEEN) == [], command[:80]
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, (command[:80], width, overflow)
    page.set_viewport_size({"width": 1440, "height": 1000})


def _ran_by_bash(command: str, folder: Path) -> tuple[int, str]:
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    ran = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, timeout=30, check=False
    )
    return ran.returncode, ran.stdout.decode()


def _told(result: dict[str, Any]) -> tuple[int, str]:
    return result["exit_code"], result["stdout"]
