from __future__ import annotations

import pytest

from tonnage.engines.llamacpp.placement import split_layers
from tonnage.errors import LayoutError


def test_the_output_counts_as_a_layer() -> None:
    # 48 layers and the output over two T4: 25 and 23 layers, by the KV buffers in a log (1600 and 1472 MiB).
    assert split_layers(48, 2) == (range(25), range(25, 48))


@pytest.mark.parametrize(("layers", "devices", "sizes"), [(61, 1, [61]), (7, 4, [2, 2, 2, 1]), (3, 3, [2, 1, 0])])
def test_sizes(layers: int, devices: int, sizes: list[int]) -> None:
    assert [len(part) for part in split_layers(layers, devices)] == sizes


def test_more_cards_than_layers() -> None:
    with pytest.raises(LayoutError, match="at most 2"):
        split_layers(2, 3)
