"""Lines read by a grammar of bash: their commands, what joins them, and what makes a line more than its commands.

The parser's time grows with the square of a hostile line, quotes apart, so that lines are bounded before it sees them:
what stands outside quotes to a thousand characters, and what opens or joins to a few hundred. Its tree is walked
without recursion. Beyond ASCII the parser's own tables end (it reads past them, and the process dies): every such
character is shown to it as one that is a plain part of a word, as it is to bash.
Source: tree-sitter-bash; conformance README, `exec_approval.jsonl`, "Analysis fails".
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from apps.firewall.engine.exec_policy.line import names
from apps.firewall.engine.exec_policy.script import PIPE, Command, Place, Script
from apps.firewall.shell.decoding import c_text, plain_text, quoted_text

LENGTH_LIMIT: Final = 16_384
BARE_LIMIT: Final = 1_000
OPENERS: Final = frozenset("|<>(;&\n{")
OPENERS_LIMIT: Final = 512
DEPTH_LIMIT: Final = 200
TOO_LARGE: Final = "too large to read"

_BASH: Final = Language(tree_sitter_bash.language())
_FAULTS: Final = {
    "function_definition": "function-definition",
    "command_substitution": "command-substitution",
    "process_substitution": "process-substitution",
    "heredoc_redirect": "heredoc",
    "herestring_redirect": "here-string",
    "file_redirect": "redirect",
    "ERROR": "syntax-error",
}
_SHAPES: Final = {
    "if_statement": "if",
    "for_statement": "for",
    "c_style_for_statement": "for",
    "while_statement": "while",
    "case_statement": "case",
    "subshell": "subshell",
    "compound_statement": "group",
}
_INNER: Final = frozenset(["function_definition", "command_substitution", "process_substitution"])
_DYNAMIC: Final = frozenset(
    ["arithmetic_expansion", "command_substitution", "expansion", "process_substitution", "simple_expansion"]
)
_ARGUMENTS: Final = _DYNAMIC | names("ansi_c_string concatenation number raw_string string word")
_PASSED_OVER: Final = names("brace_expression extglob_pattern regex translated_string")
"""Words that the release does not see in a command."""
_TESTED: Final = _ARGUMENTS | {"test_operator"}
_COMMANDS: Final = frozenset(["command", "declaration_command", "test_command"])
_SETS: Final = "unset_command"
_JOINTS: Final = frozenset(["&&", "||", "|", "|&"])
_ASSIGNMENTS: Final = frozenset(["variable_assignment", "variable_assignments"])
_QUOTED: Final = re.compile(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_QUOTES_OTHERWISE: Final = ("$'", '$"', "$(", "${", "`", "<<", "#")
_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_LETTER: Final = "_"  # one byte, so that places in the tree are places in the text
_NO_NAME: Final = "."  # for what is no letter; and behind `$`, where the names of the grammar are of ASCII
_BEGINS_NAME: Final = re.compile(r"(?<=\$)[^\x00-\x7f]|(?<=\$\{)[^\x00-\x7f]")
_NO_TEXT: Final = re.compile(r"[\ud800-\udfff]")
_CONTINUED: Final = re.compile(r"\\[\r\n]")
_BROKEN_NAME: Final = re.compile(r"\S*\\[\r\n]")
_BROKEN_WORD: Final = re.compile(r"[\r\n]\\")
_MARKS: Final = frozenset("~*?[]{}")
_EXPANDS: Final = re.compile(r"[*?\[\]{}]")
_OPENS: Final = frozenset("*?[{")
_CLOSERS: Final = {"[": "]", "{": "}"}
_SPREADS: Final = re.compile(r"[*?]|\[[^\]]|\{[^}]")
_EXPANSION: Final = re.compile(r"\$[A-Za-z0-9_@*?#$!({-]|`|[<>]\(")
_PRELUDE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(slots=True)
class _Found:
    """What a walk over a tree gathers."""

    commands: list[Command] = field(default_factory=list)
    joints: list[tuple[int, str]] = field(default_factory=list)
    dynamic: list[tuple[int, int]] = field(default_factory=list)
    faults: list[Place] = field(default_factory=list)
    shapes: list[Place] = field(default_factory=list)
    sets: bool = False


@dataclass(slots=True)
class _Word:
    """A word as far as it can be told: as the release reads it, and as bash does where that differs."""

    text: str
    bash: str = ""
    is_dynamic: bool = False
    expands: bool = False
    spreads: bool = False  # it holds a whole pattern, `*` or `[a]`, so that no program has that name


def read_script(text: str) -> Script:
    """Read a line; never fails, and what is too large to be read in bounded time is a fault."""
    if len(text) > LENGTH_LIMIT or sum(character in OPENERS for character in text) > OPENERS_LIMIT:
        return Script(text=text, fault=TOO_LARGE, has_error=True)
    if len(text) > BARE_LIMIT and _bare_length(text) > BARE_LIMIT:
        return Script(text=text, fault=TOO_LARGE, has_error=True)
    if _NO_TEXT.search(text):
        return Script(text=text, fault="no text", has_error=True)
    if "\0" in text:
        return Script(text=text, fault="syntax-error", has_error=True)
    shown = text if text.isascii() else _BEYOND_ASCII.sub(_stand_in, _BEGINS_NAME.sub(_NO_NAME, text))
    tree = Parser(_BASH).parse(shown.encode("ascii"))
    walk = _Walk(text)
    walk.over(tree.root_node)
    return walk.script(has_error=tree.root_node.has_error)


def _stand_in(found: re.Match[str]) -> str:
    return _LETTER if found[0].isalnum() else _NO_NAME


def _bare_length(text: str) -> int:
    """Count the characters outside quotes; all of them where the grammar could see the quotes otherwise."""
    if any(mark in text for mark in _QUOTES_OTHERWISE):
        return len(text)
    bare = _QUOTED.sub(lambda found: "xx" if found[0].startswith("\\") else "", text)
    return len(text) if "'" in bare or '"' in bare else len(bare)


class _Walk:
    """One pass over the tree of a line, in the order in which it is written."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found = _Found()

    def over(self, root: Node) -> None:
        has_escapes = "\\" in self.text
        if has_escapes and _CONTINUED.search(self._slice(root)):
            self._fault("line-continuation", root)
        stack: list[tuple[Node, bool, int]] = [(root, False, 0)]
        while stack:
            node, is_inner, depth = stack.pop()
            if depth > DEPTH_LIMIT:
                self._fault("too deep to read", None)
                return
            kind = node.type
            if kind in _FAULTS:
                self._fault(_FAULTS[kind], node)
            if has_escapes and kind == "word" and _BROKEN_WORD.search(self._slice(node)):
                self._fault("line-continuation", node)
            if kind in _COMMANDS:
                self._command(node, is_inner)
            is_alone = kind in _ASSIGNMENTS and (node.parent is None or node.parent.type not in _COMMANDS)
            if is_alone or kind == _SETS:
                self.found.sets = True
            inside = is_inner or kind in _INNER
            children = node.children
            for child in children:
                if not child.is_named:
                    self._token(child, inside)
            self._shape(node, children)
            stack.extend((child, inside, depth + 1) for child in reversed(children) if child.is_named)

    def _fault(self, kind: str, node: Node | None) -> None:
        place = (0, len(self.text)) if node is None else (node.start_byte, node.end_byte)
        self.found.faults.append(Place(kind, *place))

    def _token(self, node: Node, is_inner: bool) -> None:
        if not is_inner and node.type in _JOINTS:
            self.found.joints.append((node.start_byte, node.type))

    def _shape(self, node: Node, children: list[Node]) -> None:
        shape = _SHAPES.get(node.type)
        if shape is not None:
            self.found.shapes.append(Place(shape, node.start_byte, node.end_byte))
        if any(child.type == "&" and not child.is_named for child in children):
            self.found.shapes.append(Place("background", node.start_byte, node.end_byte))

    def _command(self, node: Node, is_inner: bool) -> None:
        named = node.named_children
        prelude = ""
        first: _Word
        if node.type == "command":
            name = node.child_by_field_name("name")
            if name is None:
                return
            first = self._word(name)
            if first.is_dynamic or first.spreads or self._is_broken(node, name):
                self._fault("dynamic-executable", name)
                return
            prelude = self.text[node.start_byte : name.start_byte].lstrip()
            # A here-string or a file beside the words is a fault already; it is no word.
            words = [child for child in named if child != name and child.type in _ARGUMENTS | _PASSED_OVER]
        else:
            text = self._slice(node).lstrip()
            first = _Word("[[" if text.startswith("[[") else "[" if text.startswith("[") else text.split()[0])
            words = self._leaves(node) if node.type == "test_command" else named
        read = [self._argument(word) for word in words]
        seen = [word for child, word in zip(words, read, strict=True) if child.type not in _PASSED_OVER]
        if not first.text:
            return
        self.found.commands.append(
            Command(
                text=self._slice(node),
                start=node.start_byte,
                end=node.end_byte,
                argv=(first.text, *(word.text for word in seen)),
                words=tuple(word.bash or word.text for word in (first, *read)),
                assigns=any(child.type in _ASSIGNMENTS for child in named) and node.type == "command",
                has_prelude=_PRELUDE.match(prelude) is not None,
                expands=any(word.expands or word.is_dynamic for word in read),
                passes_over=len(seen) < len(read),
                untold=frozenset(word.text for word in read if word.is_dynamic or word.spreads),
                is_inner=is_inner,
            )
        )

    def _is_broken(self, node: Node, name: Node) -> bool:
        """Say whether a line goes on behind a backslash within the name of a command, or before it."""
        text = self._slice(node)
        return "\\" in text and bool(_BROKEN_NAME.match(text) or _CONTINUED.search(self._slice(name)))

    def _leaves(self, node: Node) -> list[Node]:
        """Gather the words of a test, which stand in a tree of their own."""
        found: list[Node] = []
        stack = list(reversed(node.named_children))
        while stack:
            child = stack.pop()
            if child.type in _TESTED | _PASSED_OVER:
                found.append(child)
            else:
                stack.extend(reversed(child.named_children))
        return found

    def _argument(self, node: Node) -> _Word:
        word = self._word(node)
        if word.is_dynamic and _EXPANSION.search(self._slice(node)):
            self.found.dynamic.append((node.start_byte, node.end_byte))
        return word

    def _word(self, node: Node) -> _Word:
        kind, text = node.type, self._slice(node)
        if kind in _DYNAMIC:
            return _Word(text, is_dynamic=True)
        if kind in {"command_name", "concatenation"} and node.named_children:
            return self._joined(node, text)
        if kind == "raw_string":
            return _Word(text[1:-1])
        if kind == "ansi_c_string":
            return _Word(c_text(text[2:-1], keeps_unknown=False), bash=c_text(text[2:-1], keeps_unknown=True))
        if kind in {"string", "translated_string"}:
            inside = text[text.index('"') + 1 : -1] if text.endswith('"') else text
            return _Word(quoted_text(inside), is_dynamic=_holds_dynamic(node))
        return _Word(plain_text(text), is_dynamic=_holds_dynamic(node), expands=_expands(text), spreads=_spreads(text))

    def _joined(self, node: Node, text: str) -> _Word:
        """Put a word together from its parts; a brace or a bracket of its own makes it expand."""
        if node.named_child_count == 1 and node.named_children[0].end_byte - node.named_children[0].start_byte == len(
            text
        ):
            return self._word(node.named_children[0])
        parts = [self._word(part) for part in node.named_children]
        shown, at = "", node.start_byte
        for part, word in zip(node.named_children, parts, strict=True):
            shown += plain_text(self.text[at : part.start_byte]) + (word.bash or word.text)
            at = part.end_byte
        shown += plain_text(self.text[at : node.end_byte])
        is_pattern = node.type == "concatenation" and _spreads(text)
        bare = "".join(self._slice(part) for part in node.named_children if part.type in {"word", "brace_expression"})
        spread = len("".join(self._slice(part) for part in node.named_children)) != len(text)
        return _Word(
            plain_text(text) if is_pattern else "".join(part.text for part in parts),
            bash=shown,
            is_dynamic=any(part.is_dynamic for part in parts),
            expands=any(part.expands for part in parts) or _expands(bare) or spread,
            spreads=any(part.spreads for part in parts) or is_pattern,
        )

    def _slice(self, node: Node) -> str:
        return self.text[node.start_byte : node.end_byte]

    def script(self, *, has_error: bool) -> Script:
        found = self.found
        outer = sorted((command for command in found.commands if not command.is_inner), key=lambda each: each.start)
        inner = [command for command in found.commands if command.is_inner]
        fault = next((place.kind for place in (*found.faults, *found.shapes)), "")
        return Script(
            text=self.text,
            commands=(*outer, *inner),
            joints=tuple(self._joints(outer)),
            fault=fault or ("unable to parse command" if has_error else ""),
            faults=tuple(found.faults),
            shapes=tuple(found.shapes),
            has_error=has_error,
            dynamic=tuple(found.dynamic),
            sets=found.sets,
        )

    def _joints(self, outer: list[Command]) -> list[str]:
        """Say what stands between each command and the next; whatever is no operator ends the first one."""
        joints: list[str] = []
        for one, other in pairwise(outer):
            between = [kind for at, kind in self.found.joints if one.end <= at < other.start]
            kind = between[0] if between else ";"
            joints.append(PIPE if kind.startswith("|") and kind != "||" else kind)
        return joints


def _holds_dynamic(node: Node) -> bool:
    stack = list(node.named_children)
    while stack:
        child = stack.pop()
        if child.type in _DYNAMIC:
            return True
        stack.extend(child.named_children)
    return False


def _expands(text: str) -> bool:
    """Say whether a shell would make other words of unquoted text."""
    if _MARKS.isdisjoint(text):
        return False
    bare = re.sub(r"\\.", "", text, flags=re.DOTALL)
    return bare.startswith("~") or _EXPANDS.search(bare) is not None


def _spreads(text: str) -> bool:
    """Say whether text holds a whole pattern, which no program is named by."""
    if _OPENS.isdisjoint(text):
        return False
    bare = re.sub(r"\\.", "", text, flags=re.DOTALL)
    return any(
        found[0] in "*?" or _CLOSERS[found[0][0]] in bare[found.end() - 1 :] for found in _SPREADS.finditer(bare)
    )
