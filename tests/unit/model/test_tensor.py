"""What a tensor counts."""

from __future__ import annotations

from tonnage.model.tensor import Tensor, vector


def test_parameters_of_all_copies() -> None:
    assert Tensor("experts.up_proj", 3, 5, copies=7).params == 3 * 5 * 7


def test_what_is_not_counted_has_bytes_and_no_parameters() -> None:
    scales = Tensor("table.scale", 3, 5, dtype="uint8", is_counted=False)
    assert (scales.params, scales.rows * scales.cols) == (0, 15)


def test_vectors_are_kept_in_the_models_type() -> None:
    norm = vector("norm", 8)
    assert (norm.params, norm.kind, norm.split, norm.dtype) == (8, "plain", "none", None)
