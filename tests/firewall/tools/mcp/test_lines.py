"""Lines of a stream of bytes, however it is cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.tools.mcp.errors import McpFloodError
from apps.firewall.tools.mcp.stdio import Lines


@given(st.binary(max_size=200), st.lists(st.integers(min_value=0, max_value=200), max_size=10))
def test_the_cuts_of_a_stream_change_none_of_its_lines(stream: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    lines = Lines()

    found = [line for begin, end in pairwise(places) for line in lines.add(stream[begin:end])]

    assert found == stream.split(b"\n")[:-1]


def test_a_line_may_be_as_long_as_the_limit_and_no_longer() -> None:
    assert list(Lines(4).add(b"abcd\n")) == [b"abcd"]
    for parts in ((b"abcde",), (b"abc", b"de"), (b"abcde\n",)):
        with pytest.raises(McpFloodError):
            lines = Lines(4)
            for part in parts:
                list(lines.add(part))
