"""The account of one SGLang rank."""

from __future__ import annotations

from tonnage.engines.sglang.log_rank import RankLog
from tonnage.memory.amount import Amount


def amount(size: int) -> Amount:
    """An exact size."""
    return Amount(size, size, size)


def lines(log: RankLog) -> dict[str, int]:
    """Line names and bytes."""
    return {line.name: line.bytes for line in log.report("TP0").lines}


def test_weights_by_subtraction() -> None:
    log = RankLog(before=amount(90))
    log.end_load(amount(60), None)
    assert lines(log) == {"weights": 30}


def test_a_load_without_anything_before_it_is_not_known() -> None:
    log = RankLog()
    log.end_load(amount(60), None)
    assert lines(log) == {}


def test_tables_are_what_is_missing_beside_the_cache() -> None:
    log = RankLog()
    log.end_load(amount(60), amount(30))
    log.add_pool(amount(40))
    log.states = amount(5)
    log.end_pools(amount(12))
    log.end_pools(amount(3))  # the draft's
    assert lines(log) == {"weights": 30, "other": 3, "kv_cache": 45}  # 60 - 12 - 45 = 3


def test_both_loads_may_come_before_the_pools() -> None:
    log = RankLog()
    log.end_load(amount(60), amount(30))
    log.end_load(amount(50), amount(10))
    log.add_pool(amount(40))
    log.end_pools(amount(9))
    assert lines(log) == {"weights": 30, "draft": 10, "other": 1, "kv_cache": 40}  # 50 - 9 - 40 = 1


def test_nothing_grows_without_end() -> None:
    log = RankLog()
    for _ in range(1000):
        log.add_pool(amount(1))
        log.end_load(amount(1), amount(1))
        log.end_capture(amount(1), amount(1))
    assert (len(log.pools), len(log.loads), len(log.graphs)) == (64, 64, 64)
