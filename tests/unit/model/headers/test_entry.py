"""One stored tensor."""

from tonnage.model.headers.entry import TensorEntry


def test_elements_are_the_product_of_the_axes() -> None:
    assert TensorEntry("w", "BF16", (4, 3, 5), 120).elements == 60


def test_a_scalar_has_one_element_and_an_empty_tensor_none() -> None:
    assert TensorEntry("s", "F32", (), 4).elements == 1
    assert TensorEntry("e", "F32", (0, 7), 0).elements == 0
