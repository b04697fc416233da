"""The words of a tool are remembered, and no more of them than fit."""

from apps.firewall.tools.search.fields import Fields, Memory, fields, forget
from tests.firewall.tools.search.catalogues import tool


def of(*words: str) -> Fields:
    return (words, (), (), ())


def test_the_same_tool_is_read_once() -> None:
    one = tool("plugin:shop:order", "Buys", sku={"description": "Stock keeping unit."})

    first = fields(one)

    assert fields(one) is first
    forget()
    assert fields(one) is not first and fields(one) == first


def test_the_same_words_with_another_schema_are_another_tool() -> None:
    one, other = tool("plugin:shop:order", "Buys", sku={}), tool("plugin:shop:order", "Buys", colour={})

    assert fields(one)[3] == ("sku",) and fields(other)[3] == ("color",)


def test_words_are_weighed_where_they_stand() -> None:
    name, label, description, parameters = fields(tool("plugin:shop:place_order", "Buys things.", sku={}))

    assert (name, label, description, parameters) == (("place", "order", "shop"), (), ("buy",), ("sku",))


def test_the_oldest_are_forgotten_when_there_are_too_many() -> None:
    memory = Memory(limit=4)
    keys = [(name, name, "", "", 0) for name in ("one", "two", "three")]

    for key in keys:
        memory.put(key, of("a", "b"), {})
        memory.put(key, of("a", "b"), {})

    assert [memory.get(key) for key in keys] == [None, of("a", "b"), of("a", "b")]
