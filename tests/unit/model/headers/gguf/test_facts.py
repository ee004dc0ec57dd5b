"""Typed metadata."""

import pytest

from tonnage.errors import UnreadableError
from tonnage.model.headers.gguf.facts import Facts, read_facts
from tonnage.model.headers.gguf.value import Omitted

METADATA = {"general.architecture": "llama", "llama.block_count": 2, "llama.heads": (4, 0), "llama.zero": 0}
FACTS = read_facts(METADATA)


def test_numbers_are_found_under_the_architecture() -> None:
    assert Facts("llama", METADATA) == FACTS
    assert FACTS.number("block_count") == 2
    assert FACTS.find("nothing") is None
    assert FACTS.raw("heads") == (4, 0)


def test_a_list_has_an_item_per_layer() -> None:
    assert (FACTS.find("heads", 0), FACTS.find("heads", 1)) == (4, 0)
    with pytest.raises(UnreadableError, match=r"llama\.heads.*2 items: one for layer 2"):
        FACTS.find("heads", 2)


def test_a_number_is_at_least_one() -> None:
    assert FACTS.find("zero") == 0
    with pytest.raises(UnreadableError, match=r"llama\.zero': 0: a number from 1"):
        FACTS.number("zero")
    with pytest.raises(UnreadableError, match=r"llama\.nothing': absent"):
        FACTS.number("nothing")


@pytest.mark.parametrize("value", [-1, 2**28 + 1, 1.5, "2", True, Omitted(5000), ((1,),), ("x",)])
def test_values_that_are_no_sizes_are_refused(value: object) -> None:
    with pytest.raises(UnreadableError, match="a number from 0 to"):
        Facts("llama", {"llama.k": value}).find("k")  # type: ignore[dict-item]


@pytest.mark.parametrize("metadata", [{}, {"general.architecture": ""}, {"general.architecture": 7}])
def test_a_file_must_name_its_architecture(metadata: dict[str, object]) -> None:
    with pytest.raises(UnreadableError, match="the name of an architecture"):
        read_facts(metadata)  # type: ignore[arg-type]
