"""Lines come out whole however the bytes came in."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyshape.protocol.lines import Line, LineSplitter, LongLine


def _all(splitter: LineSplitter, chunks: list[bytes]) -> list[Line]:
    """Return the lines that have ended."""
    lines = [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.end()
    return [line for line in lines if isinstance(line, bytes) or line.tail is not None]


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
    assert _all(LineSplitter(10, 4), chunks) == [b"{}", LongLine(b"abcd", b"wxyz"), b"[]"]


def test_a_line_that_never_ends_takes_no_more_room_than_the_limit() -> None:
    splitter = LineSplitter(100, 4)
    told = [line for _ in range(1000) for line in splitter.feed(b"x" * 1000)]
    assert told == [LongLine(b"xxxx")]
    assert sum(map(len, splitter._parts)) <= 1100
    assert splitter.end() == [LongLine(b"xxxx", b"xxxx")]


@given(st.lists(st.integers(0, 60)))
def test_a_line_that_gets_too_long_is_told_of_before_it_has_ended(cuts: list[int]) -> None:
    text = b"one\n\ntwo\r\n" + b"x" * 30 + b"y" * 12 + b"\nthree\nfou"
    reader = LineSplitter(20)
    lines: list[bytes] = []
    long: list[LongLine] = []
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(text)], strict=True):
        for line in reader.feed(text[start:end]):
            if isinstance(line, LongLine):
                long.append(line)
            else:
                lines.append(line)
    assert lines == [b"one", b"two\r", b"three"]
    *early, last = long
    assert all(line.tail is None and line.head.startswith(b"x" * 20) for line in early)
    assert len(early) <= 1
    assert last.tail is not None
    assert last.tail.endswith(b"y" * 12)
    assert reader.unfinished == b"fou"
