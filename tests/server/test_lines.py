"""Lines come out whole however the bytes came in."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyshape.server.lines import Line, LineSplitter, Oversized


def _all(splitter: LineSplitter, chunks: list[bytes]) -> list[Line]:
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    return lines + splitter.end()


@given(
    lines=st.lists(
        st.binary(min_size=1, max_size=20).filter(lambda b: b"\n" not in b and b.strip())
    ),
    cuts=st.lists(st.integers(0, 400)),
)
def test_every_way_to_cut_a_stream_gives_the_same_lines(
    lines: list[bytes], cuts: list[int]
) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    chunks = [stream[a:b] for a, b in itertools.pairwise(edges)]
    assert _all(LineSplitter(1000, 4), chunks) == lines


def test_blank_lines_are_no_messages() -> None:
    assert _all(LineSplitter(10, 4), [b"\n\r\n  \n{}\n\n"]) == [b"{}"]


def test_a_last_line_without_a_newline_counts() -> None:
    assert _all(LineSplitter(10, 4), [b"{}\n[", b"]"]) == [b"{}", b"[]"]


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_a_line_that_is_too_long_is_dropped_and_the_next_is_read(size: int) -> None:
    stream = b"{}\n" + b"abcd" + b"x" * 50 + b"wxyz" + b"\n[]\n"
    chunks = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert _all(LineSplitter(10, 4), chunks) == [b"{}", Oversized(b"abcd", b"wxyz"), b"[]"]


def test_a_line_that_never_ends_takes_no_more_room_than_the_limit() -> None:
    splitter = LineSplitter(100, 4)
    for _ in range(1000):
        assert splitter.feed(b"x" * 1000) == []
    assert sum(map(len, splitter._parts)) <= 1100
    assert splitter.end() == [Oversized(b"xxxx", b"xxxx")]
