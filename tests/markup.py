"""HTML as a tree, for tests that ask what a page says about itself."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
# What a browser closes by itself: an opening tag of the second set ends an open one of the first.
ENDED_BY = {
    "li": {"li"},
    "dt": {"dt", "dd"},
    "dd": {"dt", "dd"},
    "option": {"option", "optgroup"},
    "tr": {"tr", "tbody", "tfoot"},
    "td": {"td", "th", "tr"},
    "th": {"td", "th", "tr"},
    "p": {"p", "div", "ul", "ol", "table", "form", "section", "dl", "pre"},
}


@dataclass(eq=False)
class Element:
    """One element; `texts` are those that stand in it directly."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    parent: "Element | None" = None
    children: list["Element"] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def walk(self) -> Iterator["Element"]:
        yield self
        for child in self.children:
            yield from child.walk()

    def all(self, *tags: str) -> list["Element"]:
        return [each for each in self.walk() if each.tag in tags]

    def within(self, *tags: str) -> bool:
        """Say whether the element is, or stands in, one of these."""
        return self.tag in tags or (self.parent is not None and self.parent.within(*tags))

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")

    def shown(self) -> str:
        """Name the element as a failing test does."""
        return "<" + " ".join([self.tag, *(f'{name}="{value}"' for name, value in self.attributes.items())]) + ">"


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("")
        self.open = self.root

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ENDED_BY.get(self.open.tag, ()) and self.open.parent is not None:
            self.open = self.open.parent
        made = Element(tag, {name: value or "" for name, value in attrs}, self.open)
        self.open.children.append(made)
        if tag not in VOID:
            self.open = made

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, {name: value or "" for name, value in attrs}, self.open)
        self.open.children.append(made)

    def handle_endtag(self, tag: str) -> None:
        place: Element | None = self.open
        while place is not None and place.tag != tag:
            place = place.parent
        if place is not None and place.parent is not None:
            self.open = place.parent

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.open.texts.append(" ".join(data.split()))


def read(text: str) -> Element:
    """Read a page or a part of one; what stands at its top are the children of the answer."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.root
