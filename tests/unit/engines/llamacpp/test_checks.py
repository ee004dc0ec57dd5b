from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.engines.llamacpp.checks import find_refusal
from tonnage.errors import UnsupportedError
from tonnage.layout.layout import Layout
from tonnage.layout.parts import gather_parts
from tonnage.model.arch import Arch
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.quantization.scheme import Scheme

ArchOf = Callable[..., Arch]


@pytest.mark.parametrize("scheme", [None, Scheme("gguf", ()), Scheme("mxfp4", ())])
def test_what_runs(gqa: Gqa, arch_of: ArchOf, scheme: Scheme | None) -> None:
    assert find_refusal(gather_parts(arch_of(gqa, scheme=scheme)), Layout(pp=2)) is None


def test_formats_of_other_engines(gqa: Gqa, arch_of: ArchOf) -> None:
    found = find_refusal(gather_parts(arch_of(gqa, scheme=Scheme("fp8", ()))), Layout())
    assert isinstance(found, UnsupportedError)
    assert "GGUF" in found.line


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (Layout(tp=4), "pp 4"),
        (Layout(tp=2, dcp=2), "-sm layer"),
        (Layout(dp=2), "one replica"),
        (Layout(ep=True), "one replica"),
    ],
)
def test_other_layouts(gqa: Gqa, arch_of: ArchOf, layout: Layout, words: str) -> None:
    found = find_refusal(gather_parts(arch_of(gqa)), layout)
    assert found is not None
    assert words in found.line
