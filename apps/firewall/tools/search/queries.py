"""What a model may ask of a search, one thing or several at once, and what it reads of the answer.

Source: OpenClaw, "Tool Search", section "API".
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.errors import FirewallError
from apps.firewall.tools.mistakes import Problem, shown
from apps.firewall.tools.near import did_you_mean
from apps.firewall.tools.search.budgets import (
    BATCH_BYTES,
    BATCH_CANDIDATES,
    BATCH_CHARACTERS,
    BATCH_DESCRIPTION_CHARACTERS,
    BATCH_QUERIES,
    DESCRIPTION_CHARACTERS,
    QUERY_CHARACTERS,
    SIGNATURE_CHARACTERS,
)
from apps.firewall.tools.search.descriptors import Descriptor, JsonObject
from apps.firewall.tools.search.index import Hit, SearchIndex
from apps.firewall.tools.search.lines import one_line
from apps.firewall.tools.search.rerank import Reranker
from apps.firewall.tools.search.settings import ToolSearchSettings
from apps.firewall.tools.search.signature import UNKNOWN, signature

MEMBERS: Final = ("query", "limit", "queries")
ENTRY_MEMBERS: Final = ("query", "limit")
LABEL_CHARACTERS: Final = 100


class SearchRequestError(FirewallError):
    """A search that cannot be done; `details` lists every mistake as `{"path", "code", "message"}`."""

    code = "tool_search_invalid"

    def __init__(self, details: Sequence[Problem]) -> None:
        super().__init__("; ".join(each["message"] for each in details))
        self.details = list(details)


@dataclass(frozen=True, slots=True)
class Query:
    """One search; `limit` is what holds, whatever was asked for."""

    text: str
    limit: int


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Searches in their order; those of a batch are answered in groups."""

    queries: tuple[Query, ...]
    is_batch: bool = False


def read_queries(params: JsonObject, settings: ToolSearchSettings) -> SearchRequest:
    """Read a request to search: `query` with `limit`, `queries`, or both, the one before the others.

    A `query` without a word is nothing beside a batch; by itself it finds nothing.

    Raises:
        SearchRequestError: with every mistake; nothing of such a request is searched.
    """
    problems = list(_strangers(params, MEMBERS, ""))
    text, entries = params.get("query"), params.get("queries")
    if text is not None and not isinstance(text, str):
        problems.append(_wrong("query", "a text", text))
        text = None
    if entries is not None and not isinstance(entries, list | tuple):
        problems.append(_wrong("queries", "a list of searches", entries))
        entries = None
    limit = _limit(params, "limit", settings, problems)
    if not problems and text is None and not entries:
        problems.append(_problem("query", "required_field_missing", "is required, or `queries` with at least one"))
    if entries and not _says(text) and params.get("limit") is not None:
        problems.append(_problem("limit", "not_allowed", "belongs to `query`: give each of `queries` its own"))
    own = [Query(text, limit)] if isinstance(text, str) and _says(text) else []
    queries = [*own, *_entries(entries or (), settings, problems)]
    if own:
        problems += _long(own[0].text, "query")
    if entries:
        problems += _over_budget(queries, count=len(own) + len(entries))
    elif isinstance(text, str) and not own and params.get("queries") is not None:
        problems.append(_problem("query", "required_field_missing", "must not be blank where `queries` is empty"))
    if problems:
        raise SearchRequestError(problems)
    return SearchRequest(tuple(queries), is_batch=bool(entries))


def found_by(index: SearchIndex, request: SearchRequest, *, rerank: Reranker | None = None) -> list[list[Hit]]:
    """Search; the hits of each query, in the order of the request."""
    return [index.search(query.text, limit=query.limit, rerank=rerank) for query in request.queries]


def told(request: SearchRequest, found: Sequence[Sequence[Hit]]) -> list[dict[str, Any]] | dict[str, Any]:
    """Write what a model reads of what was found: a list of candidates, or groups of them for a batch.

    Returns:
        For a batch `{"results": [{"query", "candidates"}]}` in the order of the request. Where that is too long, the
        lowest candidates are left out, and `truncated` stands beside each group that lost some and beside the whole.
    """
    if not request.is_batch:
        return [candidate(hit.descriptor) for hits in found for hit in hits]
    return _within_budget([_group(query, hits) for query, hits in zip(request.queries, found, strict=True)])


def candidate(descriptor: Descriptor, *, words: int = DESCRIPTION_CHARACTERS) -> dict[str, Any]:
    """Write what a model reads of a tool that was found; of what nobody here answers for, no schema is summed up.

    Args:
        words: characters of its description.
    """
    seen: dict[str, Any] = {"id": descriptor.id, "name": descriptor.name, "source": descriptor.source}
    if descriptor.label:
        seen["label"] = one_line(descriptor.label, limit=LABEL_CHARACTERS)
    if descriptor.description:
        seen["description"] = one_line(descriptor.description, limit=words)
    seen["input"] = _input(descriptor)
    promised = _output(descriptor)
    if promised != UNKNOWN:
        seen["output"] = promised
    return seen


def _input(descriptor: Descriptor) -> str:
    return signature(descriptor.parameters, limit=SIGNATURE_CHARACTERS) if descriptor.is_trusted else UNKNOWN


def _output(descriptor: Descriptor) -> str:
    if not descriptor.is_trusted or descriptor.output is None:
        return UNKNOWN
    return signature(descriptor.output, limit=SIGNATURE_CHARACTERS, is_whole=True)


def _entries(entries: Sequence[Any], settings: ToolSearchSettings, problems: list[Problem]) -> Iterator[Query]:
    if len(entries) > BATCH_QUERIES:
        return  # one mistake is told of it, not one for each
    for number, entry in enumerate(entries):
        path = f"queries[{number}]"
        if not isinstance(entry, Mapping):
            problems.append(_wrong(path, "an object with `query`", entry))
            continue
        problems += _strangers(entry, ENTRY_MEMBERS, path)
        text = entry.get("query")
        if text is None:
            problems.append(_problem(f"{path}.query", "required_field_missing", "is required"))
        elif not isinstance(text, str):
            problems.append(_wrong(f"{path}.query", "a text", text))
        elif not _says(text):
            problems.append(_problem(f"{path}.query", "min_length_violation", "must not be blank"))
        else:
            problems += _long(text, f"{path}.query")
            yield Query(text, _limit(entry, f"{path}.limit", settings, problems))


def _over_budget(queries: Sequence[Query], *, count: int) -> Iterator[Problem]:
    if count > BATCH_QUERIES:
        message = f"must have at most {BATCH_QUERIES} searches, `query` among them, got {count}"
        yield _problem("queries", "max_items_violation", message)
        return
    size = len(_json([query.text for query in queries]).encode("utf-8", "surrogatepass"))
    if size > BATCH_BYTES:
        yield _problem("queries", "too_large", f"must have at most {BATCH_BYTES} bytes of text together, got {size}")
    wanted = sum(query.limit for query in queries)
    if wanted > BATCH_CANDIDATES:
        message = f"must ask for at most {BATCH_CANDIDATES} candidates together, got {wanted}: give each a `limit`"
        yield _problem("queries", "too_many_candidates", message)


def _limit(holder: Mapping[str, Any], path: str, settings: ToolSearchSettings, problems: list[Problem]) -> int:
    value = holder.get("limit")
    if value is None:
        return settings.default_limit
    if isinstance(value, bool) or not isinstance(value, int):
        problems.append(_wrong(path, "a whole number", value))
    elif value < 1:
        problems.append(_problem(path, "minimum_violation", f"must be at least 1, got {shown(value)}"))
    else:
        return min(value, settings.max_limit)
    return settings.default_limit


def _long(text: str, path: str) -> Iterator[Problem]:
    if len(text) > QUERY_CHARACTERS:
        yield _problem(path, "max_length_violation", f"must have at most {QUERY_CHARACTERS} characters")


def _strangers(holder: Mapping[str, Any], known: Sequence[str], path: str) -> Iterator[Problem]:
    """Name what nobody asked for; a member that stands for nothing is no mistake."""
    for name, value in holder.items():
        if name not in known and value is not None:
            place = f"{path}.{name}" if path else str(name)
            yield _problem(place, "unknown_field", f"is not a parameter of a search{did_you_mean(str(name), known)}")


def _says(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())


def _group(query: Query, hits: Sequence[Hit]) -> dict[str, Any]:
    candidates = [candidate(hit.descriptor, words=BATCH_DESCRIPTION_CHARACTERS) for hit in hits]
    return {"query": query.text, "candidates": candidates}


def _within_budget(groups: list[dict[str, Any]]) -> dict[str, Any]:
    """Leave out the lowest candidates, of the longest group first, until the answer is short enough."""
    answer: dict[str, Any] = {"results": groups}
    while len(_json(answer)) > BATCH_CHARACTERS:
        longest = max(reversed(groups), key=lambda group: len(group["candidates"]))
        if not longest["candidates"]:
            break
        longest["candidates"].pop()
        longest["truncated"] = answer["truncated"] = True
    return answer


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _wrong(path: str, wanted: str, value: object) -> Problem:
    return _problem(path, "type_mismatch", f"must be {wanted}, got {shown(value)}")


def _problem(path: str, code: str, words: str) -> Problem:
    return {"path": path, "code": code, "message": f"`{path}` {words}"}
