"""The terms of a text: what two texts must share to mean the same to search.

Words are split where names are (`createIssue`, `create_issue`, `s3-upload`), English ones lose their endings, and
Chinese, Japanese and Korean writing, which has no spaces, counts by characters and by pairs of them.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from threading import Lock
from typing import Final

import Stemmer

WORD_LIMIT: Final = 64
"""Characters of one word; what is longer is nobody's word, and its beginning stands for it."""
TEXT_LIMIT: Final = 4_000
"""Characters of one text that count."""

_STOPPED: Final = """
    a about all also am an and any anyone anything are as at be been being but by can could did do does doing else etc
    for from had has have having he her here him his how however i if in into is it its itself just kindly let lets like
    may me might mine must my myself need needs of onto or our ours own per please s shall she should so some somebody
    someone something such t than that the their theirs them then there these they thing things this those to too tool
    tools upon us use used uses using very via want wants was we were what when where whether which while who whom whose
    why will with within would you your yours
"""
STOP_WORDS: Final = frozenset(_STOPPED.split())
"""Words that say nothing of what a tool does. Every tool is a tool, and every agent wants one."""

_FORMS: Final = """
    ran:run sent:send spent:spend bought:buy wrote:write written:write found:find made:make took:take taken:take
    got:get gave:give given:give kept:keep paid:pay lost:lose sold:sell told:tell said:say slept:sleep ate:eat
    eaten:eat drove:drive driven:drive flew:fly flown:fly chose:choose chosen:choose froze:freeze frozen:freeze
    broke:break broken:break built:build met:meet forgot:forget forgotten:forget began:begin begun:begin drew:draw
    drawn:draw hid:hide hidden:hide held:hold caught:catch taught:teach thought:think won:win spoke:speak
    spoken:speak went:go gone:go saw:see seen:see came:come knew:know known:know threw:throw thrown:throw grew:grow
    grown:grow fell:fall stole:steal stolen:steal rang:ring sang:sing swam:swim rode:ride rose:rise shown:show
    worn:wear left:leave bigger:big larger:large smaller:small cheaper:cheap louder:loud quieter:quiet warmer:warm
    cooler:cool colder:cold faster:fast slower:slow shorter:short longer:long newer:new newest:new older:old
    oldest:old children:child
"""
IRREGULAR: Final = dict(pair.split(":") for pair in _FORMS.split())
"""Past tenses, comparatives and plurals that no ending tells."""
WHOLE: Final = frozenset(("production", "international", "internal"))
"""Words whose ending is a part of what they mean: a production is no product."""
_ISE: Final = re.compile(r"(?<=...)([iy])s(e|es|ed|ing|er|ers|ation|ations)$")
_OUR: Final = re.compile(r"(?<=...)our(?=$|s$|ed$|ing$|ite$|ites$)")

CHINESE_STOP: Final = "的了吗呢吧啊请把我你您帮给这那"
_CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_CHUNK: Final = re.compile(r"[^\W_]+")
_PLAIN: Final = re.compile(f"([A-Za-z0-9]{{1,{WORD_LIMIT}}})[A-Za-z0-9]*")
_RUN: Final = re.compile(f"[{_CJK}]+|[^{_CJK}]+")
_PART: Final = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_STOPS: Final = re.compile(f"[{CHINESE_STOP}]")
_ENGLISH: Final = Stemmer.Stemmer("english")
_ONE_AT_A_TIME: Final = Lock()  # a stemmer holds the word it works on


def terms(text: str, *, limit: int = TEXT_LIMIT) -> list[str]:
    """List the terms of a text in its order, repeated as it repeats them; whatever it holds, this never fails.

    Args:
        limit: characters of the text that count.
    """
    text = text[:limit]
    if text.isascii():
        return list(chain.from_iterable(map(_of_chunk, _PLAIN.findall(text))))
    text = unicodedata.normalize("NFKC", text)[:limit]
    found: list[str] = []
    for chunk in _CHUNK.findall(text):
        found += _of_chunk(chunk[:WORD_LIMIT]) if chunk.isascii() else _of_writing(chunk)
    return found


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """Take the ending off a lower-case English word; British and American spellings end alike, as do past tenses."""
    word = IRREGULAR.get(word, word)
    if word in WHOLE:
        return word
    spelt = _OUR.sub("or", _ISE.sub(r"\1z\2", word))
    with _ONE_AT_A_TIME:
        return str(_ENGLISH.stemWord(spelt))


@lru_cache(maxsize=32_768)
def _of_chunk(chunk: str) -> tuple[str, ...]:
    words = [part.lower() for part in _PART.findall(chunk)]
    if len(words) > 1:
        words.append(chunk.lower())  # `GitHub` is asked for as `github`, and `S3` is more than its parts
    return tuple(stem(word) for word in words if word not in STOP_WORDS)


def _of_writing(chunk: str) -> Iterator[str]:
    for run in _RUN.findall(chunk):
        if re.match(f"[{_CJK}]", run):
            yield from _of_characters(run)
        else:
            plain = "".join(each for each in unicodedata.normalize("NFKD", run) if not unicodedata.combining(each))
            yield from _of_chunk(plain[:WORD_LIMIT]) if plain.isascii() else (plain.casefold()[:WORD_LIMIT],)


def _of_characters(run: str) -> Iterator[str]:
    for piece in _STOPS.split(run):
        yield from piece
        yield from (piece[at : at + 2] for at in range(len(piece) - 1))
