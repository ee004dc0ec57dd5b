from __future__ import annotations

import pytest

from tonnage.engines.sglang.compressed import compressed_cell
from tonnage.engines.sglang.version import NEWEST, Version
from tonnage.memory.kv_types import V41_RECORD, CacheTypes
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.indexer import Indexer
from tonnage.value import replace

TYPES = CacheTypes("fp8_e4m3", "bfloat16")
WINDOW = Compressed(8, 512, 64, 64, 64, 2, 0, 128)
SHORT = replace(WINDOW, ratio=4, indexer=Indexer(64, 128, 512))
LONG = replace(WINDOW, ratio=128)
FLASH = (*[WINDOW] * 2, *[SHORT] * 21, *[LONG] * 20)


def test_tokens_of_v4_flash_as_logged() -> None:
    # A start of DeepSeek V4 Flash in May 2026 logs 15,955.85 bytes per full token.
    numerator, denominator, fixed = compressed_cell(Version(0, 5, 13), FLASH, TYPES, 256)
    assert numerator / denominator == pytest.approx(15_955.85, abs=0.005)
    assert fixed == 0


def test_states_of_long_groups_belong_to_requests_now() -> None:
    # 43 x 58.4 + 21 x (146 + 33 + 64) + 20 x 4.5625 = 7,705.45 B.
    numerator, denominator, fixed = compressed_cell(NEWEST, FLASH, TYPES, 256)
    assert numerator / denominator == pytest.approx(7_705.45)
    # (256 + 1) rings of 128 rows, one ring and one row spare: 33,025, rounded up to 33,152 rows of 2 x 512 x 4 B.
    assert fixed == 20 * 33_152 * 4096


def test_a_single_layer_by_hand() -> None:
    # 128 x 584 of window, 1280 / 4 x (584 + 132) of entries, 8 x 2 x 2 x (512 + 128) x 4 of states.
    numerator, denominator, _ = compressed_cell(NEWEST, [SHORT], TYPES, 1)
    assert (numerator, denominator) == (74_752 + 229_120 + 81_920, 1280)


def test_layers_without_entries_of_their_own_keep_a_window() -> None:
    numerator, _, fixed = compressed_cell(NEWEST, [replace(SHORT, owns_kv=False)], TYPES, 1)
    assert (numerator, fixed) == (128 * 584, 0)


def test_the_record_follows_the_types() -> None:
    types = CacheTypes("fp8_e4m3", "bfloat16", record=V41_RECORD)
    numerator, _, _ = compressed_cell(NEWEST, [replace(WINDOW, ratio=2)], types, 1)
    assert numerator == 128 * 528 + 640 * 528
