"""What earlier starts have taught."""

from __future__ import annotations

from pathlib import Path

import pytest

from tonnage.errors import UnreadableError, WorldError
from tonnage.figure import Line, exact
from tonnage.plan.calibration import (
    Calibration,
    apply_calibration,
    find_calibration,
    load_calibration,
    make_key,
    save_calibration,
)

MIB = 2**20
KEY = make_key("vllm", "0.27.1", "h100-sxm", "qwen3")
LINES = (
    exact("weights", 100 * MIB, "tensors"),
    Line("activations", 50 * MIB, 30 * MIB, 75 * MIB, "derived", "forward"),
    Line("context", 20 * MIB, 8 * MIB, 40 * MIB, "assumed", ""),
    Line("communication", 10 * MIB, 4 * MIB, 20 * MIB, "measured", "peers"),
    exact("kv_cache", 800 * MIB, "the rest"),
)


def sizes(lines: tuple[Line, ...]) -> dict[str, int]:
    """Line names and MiB."""
    return {line.name: line.bytes // MIB for line in lines}


def apply(differences: dict[str, int]) -> tuple[Line, ...]:
    """The lines after a calibration in MiB."""
    return apply_calibration(LINES, Calibration(KEY, {name: size * MIB for name, size in differences.items()}))


@pytest.mark.parametrize(
    ("version", "short"),
    [("0.27.1", "0.27"), ("v0.22", "0.22"), ("0.26.1rc1.dev608+g934a9c3b7", "0.26"), ("9421", "9421")],
)
def test_versions_count_to_the_minor(version: str, short: str) -> None:
    assert make_key("e", version, "c", "f").version == short


def test_kept_starts_come_back(tmp_path: Path) -> None:
    path = str(tmp_path / "new" / "calibration.jsonl")
    assert load_calibration(path) == ()
    first = Calibration(KEY, {"activations": -5, "context": 7}, 1.25)
    second = Calibration(make_key("sglang", "0.5.10", "mi355x", "kimi_k2"), {"rest": 9})
    save_calibration(path, first)
    save_calibration(path, second)
    assert load_calibration(path) == (first, second)
    assert len(Path(path).read_text("utf-8").splitlines()) == 2


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "calibration.jsonl"
    key = '"engine": "vllm", "version": "1", "card": "c", "family": "f"'
    for line in (
        "{", "[]", "{}", "[" * 100_000, f'{{{key}, "differences": 3}}', f'{{{key}, "differences": {{"rest": 1e999}}}}',
        f'{{{key}, "differences": {{}}, "weights_ratio": NaN}}', f'{{{key}, "differences": {{}}, "weights_ratio": 0}}',
    ):  # fmt: skip
        path.write_text(f"\n{line}\n", "utf-8")
        with pytest.raises(UnreadableError, match=r"calibration\.jsonl:2"):
            load_calibration(str(path))


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(WorldError):
        save_calibration(str(tmp_path / "file" / "calibration.jsonl"), Calibration(KEY, {}))


def test_medians_of_the_same_key() -> None:
    other = make_key("vllm", "0.28", "h100-sxm", "qwen3")
    starts = [
        Calibration(KEY, {"activations": 1, "context": 10}, 1.0),
        Calibration(KEY, {"activations": 9}, None),
        Calibration(KEY, {"activations": 3}, 1.2),
        Calibration(other, {"activations": 500}, 9.0),
    ]
    assert find_calibration(starts, KEY) == Calibration(KEY, {"activations": 3, "context": 10}, 1.1, 3)
    assert find_calibration([], KEY) is None


def test_overheads_move_and_are_measured() -> None:
    lines = apply({"activations": 6, "context": -2})
    assert sizes(lines) == {"weights": 100, "activations": 56, "context": 18, "communication": 10, "kv_cache": 800}
    moved = lines[1]
    assert (moved.low, moved.high, moved.basis) == (56 * MIB, 56 * MIB, "measured")
    assert moved.trace == "forward; +6,291,456 B measured in 1 starts"  # 6 x 2**20
    assert lines[2].trace == "-2,097,152 B measured in 1 starts"
    assert (lines[0], lines[3], lines[4]) == (LINES[0], LINES[3], LINES[4])


def test_what_a_line_does_not_have_is_taken_off_its_partners() -> None:
    # the log's context is runtime and communication: 20 - 25 leaves 5 for the activations' line
    assert sizes(apply({"context": -25})) == {
        "weights": 100, "activations": 45, "context": 0, "communication": 10, "kv_cache": 800,
    }  # fmt: skip


def test_all_overheads_together() -> None:
    assert sizes(apply({"rest": 15}))["activations"] == 65
    assert sizes(apply({"rest": -55})) == {
        "weights": 100, "activations": 0, "context": 20, "communication": 5, "kv_cache": 800,
    }  # fmt: skip
    assert sizes(apply({"rest": -500}))["context"] == 0


def test_a_line_that_is_not_there_is_not_made_up() -> None:
    assert sizes(apply({"cuda_graphs": -1}))["activations"] == 49
    only = (LINES[0],)
    assert apply_calibration(only, Calibration(KEY, {"cuda_graphs": 5, "rest": 5})) == only


def test_nothing_learnt_nothing_changed() -> None:
    assert apply_calibration(LINES, None) is LINES
    assert apply({"weights": 5, "kv_cache": 5}) == LINES
