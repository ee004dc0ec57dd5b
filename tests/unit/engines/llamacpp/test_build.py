from __future__ import annotations

import pytest

from tonnage.engines.llamacpp.build import NEWEST, Build, choose_build
from tonnage.errors import UsageError


@pytest.mark.parametrize(
    ("text", "build"),
    [
        ("b6900", Build(6900)),
        ("llama.cpp b5450", Build(5450)),
        ("7400", Build(7400)),
        ("ik_llama.cpp", Build(NEWEST, True, 3)),
        ("ik_llama.cpp mla=2", Build(NEWEST, True, 2)),
        ("ik mla 0", Build(NEWEST, True, 0)),
    ],
)
def test_builds_in_texts(text: str, build: Build) -> None:
    choice = choose_build(text)
    assert choice.build == build
    assert choice.notes == ()


def test_no_build_is_the_newest() -> None:
    assert choose_build(None).build == Build(NEWEST)
    assert str(choose_build(None).build) == "newest"


@pytest.mark.parametrize("text", ["llama.cpp", "latest", "0.3.36", "llama.cpp gfx906 fork"])
def test_names_without_a_build_get_a_note(text: str) -> None:
    choice = choose_build(text)
    assert choice.build == Build(NEWEST)
    assert text in choice.notes[0]


def test_anything_else_is_refused() -> None:
    with pytest.raises(UsageError, match="banana"):
        choose_build("banana")


def test_what_came_with_which_build() -> None:
    old, new = Build(5000), Build(NEWEST)
    assert (old.keeps_latent, old.trims_windows, old.fits) == (False, False, False)
    assert (new.keeps_latent, new.trims_windows, new.fits) == (True, True, True)


@pytest.mark.parametrize(("mode", "latent", "transposed"), [(0, False, False), (1, True, True), (2, True, False)])
def test_modes_of_the_fork(mode: int, latent: bool, transposed: bool) -> None:
    build = Build(NEWEST, True, mode)  # type: ignore[arg-type]
    assert (build.keeps_latent, build.keeps_transposed) == (latent, transposed)
    assert not build.trims_windows
    assert not build.fits
    assert str(build) == "ik_llama.cpp"


def test_builds_print_as_they_are_written() -> None:
    assert str(Build(6900)) == "b6900"
