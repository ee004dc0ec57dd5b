"""Bytes of whole checkpoints."""

from __future__ import annotations

import pytest

from tonnage.catalog.models import find_preset
from tonnage.layout.parts import gather_parts
from tonnage.model.arch import Arch, Layer
from tonnage.model.ffn.dense import Dense
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.quantization.precision import scheme_for
from tonnage.model.record import from_record
from tonnage.plan.stored import stored_size
from tonnage.value import replace

SMALL = Arch("llama", (), 128, 1000, False, 512, "bfloat16", (Layer((Gqa(2, 1, 64, 64),), (Dense(256),)),) * 3)


def test_two_bytes_a_parameter() -> None:
    # attention 128 x (128 + 64 + 64 + 128) = 49,152; dense 3 x 128 x 256 = 98,304; embedding and head 2 x 128,000
    assert stored_size(gather_parts(SMALL)) == 2 * (3 * (49_152 + 98_304) + 256_000)


def test_duplicates_and_drafts_are_stored_too() -> None:
    plain = stored_size(gather_parts(SMALL))
    assert stored_size(gather_parts(replace(SMALL, duplicates=500))) == plain + 1_000
    assert stored_size(gather_parts(replace(SMALL, draft=SMALL.layers[:1]))) == plain + 2 * (49_152 + 98_304)


def test_a_tied_head_is_stored_once() -> None:
    assert stored_size(gather_parts(SMALL)) - stored_size(gather_parts(replace(SMALL, tied=True))) == 2 * 128_000


def test_formats_count() -> None:
    # one byte a value and an fp32 scale per output channel: q 128, k 64, v 64, o 128, gate 256, up 256, down 128 rows
    scales = 4 * (128 + 64 + 64 + 128 + 256 + 256 + 128)
    found = stored_size(gather_parts(replace(SMALL, scheme=scheme_for("fp8"))))
    assert found == 3 * (49_152 + 98_304 + scales) + 2 * 256_000


@pytest.mark.parametrize(
    ("name", "size"),
    [
        # total_size of the published index files
        ("meta-llama/Meta-Llama-3.1-70B", 141_107_412_992),
        ("deepseek-ai/DeepSeek-V2", 471_482_869_760),
        ("moonshotai/Kimi-K2.6", 595_148_192_736),
        ("google/gemma-4-31B-it", 62_546_177_752),
    ],
)
def test_published_checkpoints_to_the_byte(name: str, size: int) -> None:
    preset = find_preset(name)
    assert preset is not None
    assert stored_size(gather_parts(from_record(preset.record))) == size
