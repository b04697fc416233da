"""A page worked by keys alone: where Tab goes, what is seen of it, and what Enter and Escape open and close."""

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from playwright.sync_api import Page

# Controls that Tab has to reach, in the order of the page. Of radio buttons with one name it reaches one.
STOPS = """() => {
  const all = 'a[href], button, input, select, textarea, summary, [tabindex], [contenteditable]';
  window.stops = [...document.querySelectorAll(all)].filter(one => {
    if (one.tabIndex < 0 || one.matches(':disabled, input[type=hidden]') || one.closest('[inert]')) return false;
    if (!one.checkVisibility({ visibilityProperty: true }) || !one.getClientRects().length) return false;
    if (one.localName === 'summary' && one.parentElement.querySelector('summary') !== one) return false;
    if (one.type !== 'radio') return true;
    const group = [...document.getElementsByName(one.name)].filter(each => each.form === one.form && !each.disabled);
    return one === (group.find(each => each.checked) || group[0]);
  });
  const top = document.createElement('span');  // a browser goes on from where the focus was, even when that is gone
  top.tabIndex = -1;
  document.body.prepend(top);
  top.focus();
  top.remove();
  return window.stops.length;
}"""

# Where the focus is: its place in the list, and whether a person sees it there.
FOCUS = """() => {
  const one = document.activeElement, label = one.outerHTML.slice(0, 110);
  if (one === document.body || one === document.documentElement) return null;
  let ring = false;
  for (let each = one, n = 0; each && n < 4; each = each.parentElement, n++) {
    const style = getComputedStyle(each);
    ring ||= style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
  }
  const box = one.getBoundingClientRect();
  const inView = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  let under = '';
  if (inView && box.width > 4 && box.height > 4) {
    const x = Math.min(innerWidth - 1, Math.max(0, (Math.max(0, box.left) + Math.min(innerWidth, box.right)) / 2));
    const y = Math.min(innerHeight - 1, Math.max(0, (Math.max(0, box.top) + Math.min(innerHeight, box.bottom)) / 2));
    const cover = document.elementFromPoint(x, y)?.closest('.top, .tabbar, .side, .sticky');
    if (cover && !cover.contains(one)) under = cover.className;
  }
  return { at: window.stops.indexOf(one), label, ring, inView, under, x: box.x, y: box.y, height: box.height,
           parent: [...document.querySelectorAll('*')].indexOf(one.parentElement) };
}"""

OPENERS = """() => [...document.querySelectorAll('[data-show], [data-dialog]')]
  .filter(one => one.checkVisibility({ visibilityProperty: true }) && !one.disabled)
  .map(one => one.dataset.show || one.dataset.dialog)"""
OPEN = """aim => { const panel = document.querySelector(aim);
  return { open: !!panel && (panel.localName === 'dialog' ? panel.open : panel.checkVisibility()),
           inside: !!panel && panel.contains(document.activeElement),
           back: !!document.activeElement.matches(`[data-show="${aim}"], [data-dialog="${aim}"]`) }; }"""
MOST = 700


@dataclass
class Keys:
    """The keyboard of one person; what opens the same kind of panel is tried once in a walk."""

    tried: set[str] = field(default_factory=set)

    def walk(self, page: Page) -> list[str]:
        """Press Tab through a page; gives what is wrong."""
        count = page.evaluate(STOPS)
        met: list[dict[str, Any]] = []
        for _ in range(min(MOST, 2 * count + 12)):  # a date takes several
            page.keyboard.press("Tab")
            focus = page.evaluate(FOCUS)
            if focus is None or (met and focus["at"] == met[0]["at"] and len(met) > 1):
                break
            met.append(focus)
        missed = sorted(set(range(min(count, MOST))) - {each["at"] for each in met})
        shown = [page.evaluate("at => window.stops[at].outerHTML.slice(0, 110)", at) for at in missed[:3]]
        return [f"Tab never comes to {len(missed)}: {shown}"] * bool(missed) + _unseen(met) + _disordered(met)

    def skip(self, page: Page) -> list[str]:
        """Take the link past the menu, which has to be the first."""
        page.evaluate(STOPS)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('#main') !== null"):
            return []
        return ["the first Tab and Enter do not lead to the content"]

    def menu(self, page: Page) -> list[str]:
        """Open and close the menu of a phone by each of its buttons."""
        wrong = []
        page.set_viewport_size({"width": 390, "height": 844})
        toggles = page.locator("[data-nav-toggle]").locator("visible=true")
        for number in range(toggles.count()):
            toggle = toggles.nth(number)
            toggle.focus()
            page.keyboard.press("Enter")
            if not page.evaluate("document.activeElement.closest('#nav.open') !== null"):
                wrong.append(f"Enter on button {number} does not go into the menu")
            page.keyboard.press("Escape")
            if page.locator("#nav.open").count() or not toggle.evaluate("one => one === document.activeElement"):
                wrong.append(f"Escape does not close the menu and go back to button {number}")
        return wrong

    def drawer(self, page: Page) -> list[str]:
        """Open a call beside the list of calls, and close it."""
        link = page.locator("#calls .call-link").first
        link.focus()
        page.keyboard.press("Enter")
        page.locator("#drawer").wait_for(state="visible")
        page.keyboard.press("Escape")
        if page.locator("#drawer").is_visible() or not link.evaluate("one => one === document.activeElement"):
            return ["Escape does not close the call and go back to its row"]
        return []

    def panels(self, page: Page) -> list[str]:
        """Open and close what a button opens."""
        wrong = []
        for aim in dict.fromkeys(page.evaluate(OPENERS)):
            kind = re.sub(r"[0-9a-f-]{8,}|\d+", "", aim)
            if kind in self.tried:
                continue
            self.tried.add(kind)
            page.locator(f'[data-show="{aim}"], [data-dialog="{aim}"]').locator("visible=true").first.focus()
            page.keyboard.press("Enter")
            page.wait_for_timeout(50)
            opened = page.evaluate(OPEN, aim)
            page.keyboard.press("Escape")
            page.wait_for_timeout(50)
            closed = page.evaluate(OPEN, aim)
            if not (opened["open"] and opened["inside"]):
                wrong.append(f"Enter does not go into {aim}: {opened}")
            if closed["open"] or not closed["back"]:
                wrong.append(f"Escape does not close {aim} and go back: {closed}")
        return wrong


def _unseen(met: list[dict[str, Any]]) -> list[str]:
    wrong = []
    for each in met:
        if not each["ring"]:
            wrong.append(f"no ring: {each['label']}")
        elif not each["inView"] or each["under"]:
            wrong.append(f"out of sight {each['under']}: {each['label']}")
    return wrong


def _disordered(met: list[dict[str, Any]]) -> list[str]:
    """Neighbours are visited as they are read: from left to right, then downwards."""
    wrong = []
    for one, other in pairwise(met):
        if other["at"] >= 0 and other["at"] < one["at"]:
            wrong.append(f"backwards: {other['label']}")
        if one["parent"] == other["parent"] and abs(one["y"] - other["y"]) < 4 and other["x"] < one["x"] - 4:
            wrong.append(f"to the left: {other['label']}")
    return wrong
