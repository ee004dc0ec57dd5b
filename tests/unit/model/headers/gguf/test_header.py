"""Header of one GGUF file."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tonnage.errors import TonnageError, UnreadableError
from tonnage.model.headers.blob import Blob
from tonnage.model.headers.entry import TensorEntry
from tonnage.model.headers.gguf.header import GgufHeader, read_header

Build = Callable[..., bytes]

# The same examples in every run; a busy machine is no failure.
FUZZ = settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])

KEYS = [("general.architecture", 8, "llama"), ("llama.block_count", 4, 2)]
# Axes are written fastest first: 256 inputs x 4 outputs in Q4_K are 4 blocks of 144 bytes.
TENSORS = [("a.weight", (256, 4), 12, 4 * 144), ("a.norm", (8,), 0, 32), ("e.weight", (32, 2, 3), 8, 6 * 34)]


def read(data: bytes) -> GgufHeader:
    return read_header(Blob("m.gguf", len(data), lambda start, count: data[start : start + count]))


@pytest.mark.parametrize(("order", "version"), [("<", 2), ("<", 3), (">", 3)])
def test_versions_and_byte_orders(gguf: Build, order: str, version: int) -> None:
    header = read(gguf(KEYS, TENSORS, order, version))
    assert (header.version, header.order) == (version, order)
    assert header.metadata == {"general.architecture": "llama", "llama.block_count": 2}
    assert header.entries == (
        TensorEntry("a.weight", "Q4_K", (4, 256), 576),
        TensorEntry("a.norm", "F32", (8,), 32),
        TensorEntry("e.weight", "Q8_0", (3, 2, 32), 204),
    )


def test_data_starts_at_the_alignment(gguf: Build) -> None:
    for alignment in (8, 32, 4096):
        data = gguf([*KEYS, ("general.alignment", 4, alignment)], TENSORS, alignment=alignment)
        header = read(data)
        assert header.data_start % alignment == 0
        # sizes rounded up to the alignment, as in the file
        stored = sum(-(-entry.stored_bytes // alignment) * alignment for entry in header.entries)
        assert header.data_start + stored == len(data)


def test_tensors_come_in_the_order_of_their_data(gguf: Build) -> None:
    data = bytearray(gguf((), [("a", (8,), 0, 32), ("b", (8,), 0, 32)]))
    # swap the offsets 0 and 32
    first = data.index(b"a\x01") + 1 + 4 + 8 + 4
    second = data.index(b"b\x01") + 1 + 4 + 8 + 4
    data[first : first + 8], data[second : second + 8] = data[second : second + 8], data[first : first + 8]
    assert [entry.name for entry in read(bytes(data)).entries] == ["b", "a"]


def test_types_with_row_data_take_what_lies_before_the_next_tensor(gguf: Build) -> None:
    # IQ4_KS of ik_llama.cpp: 2 rows of one 136-byte block and a 4-byte scale each
    header = read(gguf((), [("a", (256, 2), 144, 2 * (136 + 4) + 8), ("b", (8,), 0, 32)]))
    assert header.entries[0] == TensorEntry("a", "IQ4_KS", (2, 256), 288)


def test_only_the_header_is_read(gguf: Build) -> None:
    data = gguf(KEYS, [("w", (2**20, 2**17), 0, 0)])
    reads: list[tuple[int, int]] = []

    def ranged(start: int, count: int) -> bytes:
        reads.append((start, count))
        return data[start : start + count].ljust(count, b"\0")

    header = read_header(Blob("m", len(data) + 2**39, ranged))
    assert header.entries[0].stored_bytes == 2**39  # 2^37 floats
    assert sum(count for _, count in reads) < 300_000


def test_a_file_without_tensors_is_read(gguf: Build) -> None:
    assert read(gguf(KEYS)).entries == ()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "starts with b'': a GGUF file"),
        (b"GGUF\x03\0\0\0", "a GGUF file"),
        (b"GGML" + bytes(60), "starts with b'GGML'"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "GGUF version 1: version 2 or 3"),
        (b"GGUF" + struct.pack("<IQQ", 4, 0, 0), "GGUF version 4"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**63, 0), f"{2**63} tensors: what fits in the 8 bytes"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**62), f"{2**62} metadata keys: what fits"),
        (b"GGUF" + struct.pack("<IQQ", 3, 10**6, 0) + bytes(10**7), "1000000 tensors and 0 keys: at most"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 70000) + bytes(80000), "a name of 70000 bytes"),
    ],
)
def test_starts_that_cannot_be(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableError, match=message):
        read(data)


@pytest.mark.parametrize(
    ("keys", "tensors", "message"),
    [
        ([("k", 4, 1), ("k", 4, 1)], [], "key 'k': given twice"),
        ([("general.alignment", 4, 0)], [], "alignment: 0: a power of two"),
        ([("general.alignment", 4, 24)], [], "alignment: 24"),
        ([("general.alignment", 8, "32")], [], "alignment: '32'"),
        ([("general.alignment", 4, 2**31)], [], "alignment"),
        ([], [("a", (8,), 0, 32), ("a", (8,), 0, 32)], "tensor 'a': listed twice"),
        ([], [("a", (1, 1, 1, 1, 1), 0, 32)], "tensor 'a': 5 axes: at most 4"),
        ([], [("a", (8,), 31, 32)], "tensor 'a': ggml type 31"),
        ([], [("a", (100, 2), 12, 144)], r"shape \(100, 2\): rows of whole Q4_K blocks of 256"),
        ([], [("a", (2**40, 2**40), 0, 32)], "shape"),
        ([], [("a", (2**64 - 1,), 24, 32)], "shape"),
        ([], [("a", (9,), 0, 32)], "tensor 'a': ends at 36: an end within the 32 bytes"),
        ([], [("a", (16,), 0, 32), ("b", (8,), 0, 32)], "tensor 'b': starts at 32: byte 64"),
    ],
)
def test_contents_that_cannot_be(gguf: Build, keys: object, tensors: object, message: str) -> None:
    with pytest.raises(UnreadableError, match=message) as caught:
        read(gguf(keys, tensors))
    assert "\n" not in caught.value.line


def test_a_truncated_file_is_refused_wherever_it_ends(gguf: Build) -> None:
    data = gguf(KEYS, TENSORS)
    last = len(data) - (-204 % 32)  # the padding behind the last tensor may be missing
    assert len(read(data[:last]).entries) == 3
    for end in range(0, last, 7):
        with pytest.raises(UnreadableError):
            read(data[:end])


def test_a_lying_header_allocates_nothing() -> None:
    data = b"GGUF" + struct.pack("<IQQ", 3, 2**60, 2**60) + bytes(1000)
    tracemalloc.start()
    with pytest.raises(UnreadableError):
        read(data)
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def test_a_large_vocabulary_is_passed_over_in_little_memory(gguf: Build) -> None:
    data = gguf([*KEYS, ("tokenizer.ggml.tokens", 9, (8, ["token"] * 200_000))], TENSORS)
    tracemalloc.start()
    assert len(read(data).entries) == 3
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 2**20  # two windows, not 200,000 strings


@FUZZ
@given(st.data())
def test_a_mutated_file_is_read_or_refused_in_one_line(gguf: Build, data: st.DataObject) -> None:
    keys = [*KEYS, ("list", 9, (9, [(4, [1, 2]), (8, ["x"])])), ("flag", 7, True)]
    file = bytearray(gguf(keys, TENSORS, data.draw(st.sampled_from("<>"))))
    for _ in range(data.draw(st.integers(1, 4))):
        file[data.draw(st.integers(0, len(file) - 1))] = data.draw(st.integers(0, 255))
    line = ""
    try:
        read(bytes(file))
    except TonnageError as error:
        line = error.line
    assert "\n" not in line
