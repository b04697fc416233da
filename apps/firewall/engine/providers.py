"""Which block of `byProvider` holds for a provider and a model.

Source: conformance README, "Provider key".
"""

from typing import NamedTuple

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import fold, trim
from apps.firewall.engine.policy import Policy


class ProviderBlock(NamedTuple):
    """A block and the key under which it stands, as written."""

    key: str
    policy: Policy


ProviderMap = dict[str, ProviderBlock]


def provider_map(dialect: Dialect, blocks: list[tuple[str, Policy | None]]) -> ProviderMap:
    """Index blocks by the normal form of their keys, of several spellings the one that the release takes.

    Letter case and blanks around the key make no other spelling; a slash without a model (`openai/`) and blanks before
    a slash do.
    """
    chosen: dict[str, tuple[str, Policy | None]] = {}
    for key, policy in blocks:
        normal = _normal_key(dialect, key)
        if dialect.provider_last_spelling_wins:
            chosen[normal] = (key, policy)
        elif policy is not None:
            first = chosen.get(normal)
            if first is None or (fold(key) == normal and fold(first[0]) != normal):
                chosen[normal] = (key, policy)
    return {
        normal: ProviderBlock(key, policy) for normal, (key, policy) in chosen.items() if normal and policy is not None
    }


def provider_keys(dialect: Dialect, provider: str | None, model_id: str | None) -> tuple[str, ...]:
    """Return the keys to look up, the model's before the provider's; none without a provider."""
    normal = _normal_key(dialect, provider or "")
    if not normal:
        return ()
    model = fold(model_id or "")
    if not model:
        return (normal,)
    if "/" in model and not dialect.model_key_with_provider:
        return (model, normal)
    return (f"{normal}/{model}", normal)


def find_provider(blocks: ProviderMap, keys: tuple[str, ...]) -> ProviderBlock | None:
    """Return the block of the first key that has one; blocks are not merged."""
    for key in keys:
        block = blocks.get(key)
        if block is not None:
            return block
    return None


def _normal_key(dialect: Dialect, key: str) -> str:
    folded = fold(key)
    if not dialect.model_key_with_provider:
        return folded
    provider, slash, model = folded.partition("/")
    if not provider or not slash:
        return folded
    return f"{trim(provider)}/{model}" if model else trim(provider)
