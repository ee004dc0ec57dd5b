"""Header of one safetensors file."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tonnage.errors import TonnageError, UnreadableError
from tonnage.model.headers.blob import Blob
from tonnage.model.headers.entry import TensorEntry
from tonnage.model.headers.safetensors.header import MAX_HEADER_BYTES, parse_header, read_header

Build = Callable[..., bytes]

# The same examples in every run; a busy machine is no failure.
FUZZ = settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# A: 2 x 3 BF16 = 12 bytes; B: 8 F4 = 4 bytes; S: one F32 = 4 bytes; E: empty.
HEADER = {
    "__metadata__": {"format": "pt"},
    "S": {"dtype": "F32", "shape": [], "data_offsets": [16, 20]},
    "A": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]},
    "B": {"dtype": "F4", "shape": [2, 4], "data_offsets": [12, 16]},
    "E": {"dtype": "I64", "shape": [0, 5], "data_offsets": [20, 20]},
}


def blob(data: bytes, size: int | None = None) -> Blob:
    return Blob("m.safetensors", len(data) if size is None else size, lambda start, count: data[start : start + count])


def assert_clean(read: Callable[[], object]) -> None:
    """Whatever `read` meets, it ends or refuses in one line."""
    line = ""
    try:
        read()
    except TonnageError as error:
        line = error.line
    assert "\n" not in line


def one(**changes: object) -> dict[str, object]:
    """A header of one 2 x 3 BF16 tensor (12 bytes) with `changes`."""
    return {"w": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12], **changes}}


def test_tensors_come_in_file_order(safetensors: Build) -> None:
    assert read_header(blob(safetensors(HEADER, bytes(20)))) == (
        TensorEntry("A", "BF16", (2, 3), 12),
        TensorEntry("B", "F4", (2, 4), 4),
        TensorEntry("S", "F32", (), 4),
        TensorEntry("E", "I64", (0, 5), 0),
    )


def test_trailing_spaces_are_padding(safetensors: Build) -> None:
    assert len(read_header(blob(safetensors(json.dumps(HEADER) + "   ", bytes(20))))) == 4


def test_a_header_of_no_tensors_is_a_file_of_no_data(safetensors: Build) -> None:
    assert read_header(blob(safetensors("{}"))) == ()


def test_unknown_fields_of_a_tensor_are_ignored(safetensors: Build) -> None:
    assert len(read_header(blob(safetensors(one(extra=1), bytes(12))))) == 1


def test_only_the_header_is_read(safetensors: Build) -> None:
    # 1 TB of data after the header: the size is told, the bytes do not exist.
    data = safetensors({"w": {"dtype": "U8", "shape": [10**12], "data_offsets": [0, 10**12]}})
    reads: list[tuple[int, int]] = []

    def read(start: int, count: int) -> bytes:
        reads.append((start, count))
        return data[start : start + count].ljust(count, b"\0")

    read_header(Blob("m", len(data) + 10**12, read))
    assert reads == [(0, 131072)]


def test_a_long_header_takes_one_more_read(safetensors: Build) -> None:
    tensors = {f"t{i}": {"dtype": "U8", "shape": [1], "data_offsets": [i, i + 1]} for i in range(4000)}
    data = safetensors(tensors, bytes(4000))
    length = int.from_bytes(data[:8], "little")
    reads: list[tuple[int, int]] = []

    def read(start: int, count: int) -> bytes:
        reads.append((start, count))
        return data[start : start + count]

    assert len(read_header(Blob("m", len(data), read))) == 4000
    assert reads == [(0, 131072), (131072, length + 8 - 131072)]


@pytest.mark.parametrize(
    ("header", "data_bytes", "message"),
    [
        ("[]", 0, "not a JSON object"),
        ('[["w", 1]]', 0, "not a JSON object"),
        ("", 0, "Expecting value"),
        (b"\xff\xfe", 0, "not UTF-8"),
        ("{" * 100_000, 0, "header: Expecting property name|nested too deeply"),
        ('{"w":' + "[" * 100_000, 0, "nested too deeply"),
        ('{"w": 1}', 0, "'w': 1: an object with dtype"),
        ('{"w": {"dtype": "BF16"}}', 0, "an object with dtype"),
        ('{"__metadata__": {"a": 1}}', 0, "__metadata__: .*: an object of strings"),
        ('{"__metadata__": [1]}', 0, "__metadata__: .*: an object of strings"),
        (one(dtype="BF17"), 12, "dtype: 'BF17': one of BOOL, F4"),
        (one(dtype=16), 12, "dtype: 16"),
        (one(dtype="x\x1b[2J" * 1000), 12, r"dtype: 'x\\x1b"),
        (one(shape=[2, -3]), 12, r"shape: \[2, -3\]: a list of sizes"),
        (one(shape=[2, 3.0]), 12, r"shape: \[2, 3.0\]"),
        (one(shape=[2, True]), 12, r"shape: \[2, True\]"),
        (one(shape="6"), 12, "shape: '6'"),
        (one(shape=[2**63]), 12, "shape"),
        (one(shape=[1] * 33), 12, "shape"),
        (one(shape=[2**62, 2**62]), 12, "data_offsets .*: the size of BF16"),
        (one(data_offsets=[0, 13]), 13, r"\[0, 13\]: the size of BF16 \[2, 3\]"),
        (one(data_offsets=[12, 0]), 12, "the size of"),
        (one(data_offsets=[0]), 12, r"data_offsets: \[0\]: \[begin, end\]"),
        (one(data_offsets=[0, 2**64]), 12, "data_offsets"),
        (one(data_offsets=[0, None]), 12, "data_offsets"),
        (one(data_offsets=[0, float("nan")]), 12, "data_offsets"),
        (one(), 11, "tensors end at byte 12 of the data: 11"),
        (one(), 13, "tensors end at byte 12 of the data: 13"),
        ({"w": {"dtype": "F4", "shape": [3], "data_offsets": [0, 2]}}, 2, "the size of F4"),
        ('{"w": ROW, "w": ROW}'.replace("ROW", json.dumps(one()["w"])), 24, "'w': listed twice"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(safetensors: Build, header: object, data_bytes: int, message: str) -> None:
    with pytest.raises(UnreadableError, match=message) as caught:
        read_header(blob(safetensors(header, bytes(data_bytes))))
    assert "\n" not in caught.value.line
    assert len(caught.value.line) < 500


def test_overlapping_tensors_are_refused() -> None:
    header = {
        "a": {"dtype": "U8", "shape": [8], "data_offsets": [0, 8]},
        "b": {"dtype": "U8", "shape": [8], "data_offsets": [4, 12]},
    }
    with pytest.raises(UnreadableError, match="'b': starts at 4: byte 8"):
        parse_header(json.dumps(header).encode(), 12, "m")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "0 bytes: a safetensors file"),
        (b"\x02\0\0\0", "4 bytes: a safetensors file"),
        ((100).to_bytes(8, "little") + b"{}", "header of 100 bytes in a file of 10"),
        ((2**63).to_bytes(8, "little") + b"{}", f"header of {2**63} bytes: at most {MAX_HEADER_BYTES}"),
        ((MAX_HEADER_BYTES + 1).to_bytes(8, "little") + b"{}", "at most"),
        (b"version https://git-lfs.github.com/spec/v1\n", "at most"),
    ],
)
def test_lengths_are_checked_first(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableError, match=message):
        read_header(blob(data))


def test_a_lying_length_allocates_nothing() -> None:
    data = MAX_HEADER_BYTES.to_bytes(8, "little") + b"{}"
    tracemalloc.start()
    with pytest.raises(UnreadableError, match="in a file of 10"):
        read_header(blob(data))
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def test_a_bomb_of_empty_lists_is_refused_before_it_is_built() -> None:
    header = b'{"w":[' + b"[]," * 2_000_000 + b"[]]}"
    tracemalloc.start()
    with pytest.raises(UnreadableError, match="2000000 commas for 0 tensors"):
        parse_header(header, 0, "m")
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def test_long_free_text_beside_the_tensors_is_taken() -> None:
    # Training tools write their whole configuration as text into __metadata__.
    header = {"__metadata__": {"tags": "[a,b]," * 100_000}, **one()}
    assert len(parse_header(json.dumps(header).encode(), 12, "m")) == 1


def test_twenty_thousand_tensors_take_bounded_time_and_memory() -> None:
    row = '"model.layers.%d.mlp.experts.0.up_proj.weight":{"dtype":"U8","shape":[1,1],"data_offsets":[%d,%d]}'
    header = ("{" + ",".join(row % (i, i, i + 1) for i in range(20_000)) + "}").encode()
    started = time.perf_counter()
    assert len(parse_header(header, 20_000, "m")) == 20_000
    assert time.perf_counter() - started < 5  # about 0.2 s on two slow cores
    tracemalloc.start()
    parse_header(header, 20_000, "m")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 15 * len(header)


@FUZZ
@given(st.data())
def test_a_mutated_header_is_read_or_refused_in_one_line(safetensors: Build, data: st.DataObject) -> None:
    file = bytearray(safetensors(HEADER, bytes(20)))
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(file) - 1))
        file[position] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(file)) | st.just(len(file)))
    assert_clean(lambda: read_header(blob(bytes(file[:cut]))))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@FUZZ
@given(st.dictionaries(st.sampled_from(["dtype", "shape", "data_offsets"]), JSON), st.integers(0, 100))
def test_any_json_in_the_place_of_a_tensor(changes: dict[str, object], data_bytes: int) -> None:
    assert_clean(lambda: parse_header(json.dumps(one(**changes)).encode(), data_bytes, "m"))
