"""Values of GGUF metadata, read back from files that the builder writes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.errors import UnreadableError
from tonnage.model.headers.blob import Blob
from tonnage.model.headers.gguf.header import read_header
from tonnage.model.headers.gguf.value import MAX_KEPT_ITEMS, MAX_KEPT_TEXT_BYTES, Omitted, Value

Build = Callable[..., bytes]


def value(data: bytes) -> Value:
    """The value of key "k" in the file `data`."""
    return read_header(Blob("m.gguf", len(data), lambda start, count: data[start : start + count])).metadata["k"]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (0, 255),
        (1, -128),
        (2, 65535),
        (3, -32768),
        (4, 2**32 - 1),
        (5, -(2**31)),
        (6, 0.5),
        (7, True),
        (7, False),
        (8, "Grüße"),
        (8, ""),
        (10, 2**64 - 1),
        (11, -(2**63)),
        (12, 1e300),
    ],
)
def test_every_scalar_type(gguf: Build, order: str, kind: int, content: object) -> None:
    read = value(gguf([("k", kind, content)], order=order))
    assert read == content
    assert type(read) is type(content)


@pytest.mark.parametrize("order", ["<", ">"])
def test_short_arrays_are_kept(gguf: Build, order: str) -> None:
    assert value(gguf([("k", 9, (4, [1, 2, 3]))], order=order)) == (1, 2, 3)
    assert value(gguf([("k", 9, (8, ["a", ""]))], order=order)) == ("a", "")
    assert value(gguf([("k", 9, (7, []))], order=order)) == ()
    assert value(gguf([("k", 9, (9, [(4, [1]), (8, ["x"])]))], order=order)) == ((1,), ("x",))


def test_long_arrays_are_counted_and_passed_over(gguf: Build) -> None:
    count = MAX_KEPT_ITEMS + 1
    tail = ("z", 4, 7)
    for kind, item in ((8, "token"), (6, 0.5), (0, 1)):
        data = gguf([("k", 9, (kind, [item] * count)), tail])
        assert value(data) == Omitted(count)
        header = read_header(Blob("m", len(data), lambda start, size, data=data: data[start : start + size]))
        assert header.metadata["z"] == 7


def test_long_texts_are_passed_over(gguf: Build) -> None:
    assert value(gguf([("k", 8, "x" * MAX_KEPT_TEXT_BYTES)])) == "x" * MAX_KEPT_TEXT_BYTES
    assert value(gguf([("k", 8, "x" * (MAX_KEPT_TEXT_BYTES + 1))])) == Omitted(MAX_KEPT_TEXT_BYTES + 1)


def test_broken_characters_in_a_text_are_replaced(gguf: Build) -> None:
    assert value(gguf([("k", 8, b"a\xffb")])) == "a\ufffdb"


def test_a_key_must_be_text(gguf: Build) -> None:
    data = gguf([("k", 4, 1)]).replace(b"\x01" + bytes(7) + b"k", b"\x01" + bytes(7) + b"\xff")
    with pytest.raises(UnreadableError, match="a name that is not UTF-8"):
        value(data)


def test_nesting_is_bounded(gguf: Build) -> None:
    nested: object = (4, [1])
    for _ in range(3):
        nested = (9, [nested])
    assert value(gguf([("k", 9, nested)])) == ((((1,),),),)
    with pytest.raises(UnreadableError, match="arrays nested 5 deep"):
        value(gguf([("k", 9, (9, [nested]))]))


def test_long_lists_of_lists_are_refused(gguf: Build) -> None:
    with pytest.raises(UnreadableError, match="array of 4097 items of type 9: at most 4096"):
        value(gguf([("k", 9, (9, [(4, [])] * (MAX_KEPT_ITEMS + 1)))]))


def test_endless_lists_of_texts_are_refused(gguf: Build) -> None:
    data = gguf([("k", 9, (8, []))])
    at = data.index(b"k\x09") + 1 + 4 + 4
    count = 2**22 + 1
    lying = data[:at] + count.to_bytes(8, "little") + bytes(8 * count)
    with pytest.raises(UnreadableError, match=f"array of {count} items of type 8: at most"):
        value(lying)


def test_unknown_types_are_refused(gguf: Build) -> None:
    data = gguf([("k", 4, 1)]).replace(b"k\x04", b"k\x0d")
    with pytest.raises(UnreadableError, match="value type 13: types 0 to 12"):
        value(data)


def test_what_is_kept_is_bounded(gguf: Build) -> None:
    # 20 texts of 1 MiB each: the seventeenth is one too many
    keys = [(f"k{i}", 8, "x" * MAX_KEPT_TEXT_BYTES) for i in range(20)]
    with pytest.raises(UnreadableError, match="metadata too large"):
        value(gguf(keys))


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 10**9])
def test_a_lying_length_allocates_nothing(gguf: Build, length: int) -> None:
    data = gguf([("k", 8, "abcd")]).replace(b"\x04" + bytes(7) + b"abcd", length.to_bytes(8, "little") + b"abcd")
    with pytest.raises(UnreadableError, match=f"{length} bytes of text: what fits"):
        value(data)


@pytest.mark.parametrize("kind", [0, 8, 9, 12])
def test_a_lying_count_allocates_nothing(gguf: Build, kind: int) -> None:
    data = gguf([("k", 9, (kind, []))])
    at = data.index(b"k\x09") + 1 + 4 + 4
    lying = data[:at] + (2**62).to_bytes(8, "little") + data[at + 8 :]
    with pytest.raises(UnreadableError, match=f"{2**62} array items: what fits"):
        value(lying)
