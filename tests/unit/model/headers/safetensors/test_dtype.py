"""Widths of safetensors types."""

from tonnage.model.headers.safetensors.dtype import BITS


def test_there_are_22_types() -> None:
    assert len(BITS) == 22


def test_the_width_is_in_the_name() -> None:
    for name, bits in BITS.items():
        digits = name.split("_")[0].lstrip("BCFIU")
        assert name == "BOOL" or bits == int(digits), name
