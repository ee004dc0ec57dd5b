"""What counts as right."""

from __future__ import annotations

import pytest
from validation.sample import BY_KEY, METRICS, Number, Sample

from tonnage.units import GIB


def sample(metric: str, seen: Number | bool, predicted: Number | bool | None) -> Sample:
    return Sample(metric, "some-row", seen, predicted)


def test_keys_are_unique() -> None:
    assert len(BY_KEY) == len(METRICS)


@pytest.mark.parametrize(("predicted", "right"), [(100, True), (103, True), (97, True), (104, False), (96, False)])
def test_three_percent(predicted: int, right: bool) -> None:
    assert sample("vllm_weights", 100, predicted).is_right is right


def test_error_is_relative_to_what_was_seen() -> None:
    assert sample("vllm_tokens", 200, 150).error == 0.25


def test_no_answer_is_wrong_and_has_no_error() -> None:
    unanswered = sample("vllm_weights", 100, None)
    assert unanswered.error is None
    assert unanswered.is_right is False


@pytest.mark.parametrize(
    ("seen", "predicted", "right"),
    [
        (2 * GIB, 3.5 * GIB, True),  # 1.5 GiB off
        (2 * GIB, 3.6 * GIB, False),
        (100 * GIB, 108 * GIB, True),  # 8 % off
        (100 * GIB, 109 * GIB, False),
    ],
)
def test_pools_may_be_off_by_a_gibibyte_and_a_half_or_eight_percent(seen: float, predicted: float, right: bool) -> None:
    assert sample("vllm_pool", seen, predicted).is_right is right


@pytest.mark.parametrize(("seen", "predicted"), [(True, True), (False, False)])
def test_verdicts_that_agree(seen: bool, predicted: bool) -> None:
    assert sample("vllm_started", seen, predicted).is_right is True
    assert sample("vllm_started", seen, predicted).error is None


@pytest.mark.parametrize("predicted", [False, None])
def test_verdicts_that_do_not(predicted: bool | None) -> None:
    assert sample("vllm_started", True, predicted).is_right is False


def test_the_engines_own_modules_are_held_to_less() -> None:
    assert sample("oracle_weights", 1000, 1001).is_right is True
    assert sample("oracle_weights", 1000, 1002).is_right is False
    assert sample("oracle_concurrency", 1000, 1005).is_right is True
    assert sample("oracle_concurrency", 1000, 1006).is_right is False
