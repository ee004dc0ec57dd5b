"""Values behave like frozen dataclasses with slots, without being made by `dataclasses`."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from tonnage.value import COMPILED_AFTER, defaults, fields, is_value, ordered_value, replace, value


@value
class Point:
    """A place."""

    x: int
    y: int = 0
    name: str | None = None

    @property
    def total(self) -> int:
        """The sum."""
        return self.x + self.y


@value
class Other:
    """The same fields under another name."""

    x: int
    y: int = 0
    name: str | None = None


@value
class Single:
    """One field only."""

    item: object


@value
class Checked:
    """Refuses numbers below zero."""

    size: int

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError(f"size {self.size}")


@ordered_value
class Release:
    """Compared by its numbers."""

    major: int
    minor: int = 0

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


@pytest.mark.parametrize(
    "point", [Point(1), Point(1, 0), Point(1, 0, None), Point(x=1), Point(1, name=None), Point(y=0, x=1)]
)
def test_fields_come_by_position_by_name_or_by_default(point: Point) -> None:
    assert (point.x, point.y, point.name) == (1, 0, None)
    assert point == Point(1)
    assert point.total == 1


@pytest.mark.parametrize(
    ("given", "named"),
    [((), {}), ((1, 2, "a", 4), {}), ((1,), {"z": 2}), ((1,), {"x": 2}), ((), {"y": 2}), ((), {"y": 2, "z": 3})],
)
@pytest.mark.parametrize("is_compiled", [False, True])
def test_wrong_arguments_are_a_type_error(given: tuple[int, ...], named: dict[str, int], is_compiled: bool) -> None:
    @value
    class Fresh:
        x: int
        y: int = 0
        name: str | None = None

    for number in range(COMPILED_AFTER + 1 if is_compiled else 0):
        assert Fresh(number).x == number
    with pytest.raises(TypeError):
        Fresh(*given, **named)  # type: ignore[arg-type]


def test_an_often_made_class_stays_what_it_was() -> None:
    @value
    class Often:
        x: int
        y: tuple[int, ...] = ()

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("negative")

    made = [Often(number, y=(number,)) for number in range(2 * COMPILED_AFTER)]
    assert [(one.x, one.y) for one in made] == [(number, (number,)) for number in range(2 * COMPILED_AFTER)]
    assert Often(5) == Often(x=5) == Often(5, ())
    with pytest.raises(ValueError, match="negative"):
        Often(-1)


def test_the_error_names_what_is_wrong() -> None:
    with pytest.raises(TypeError, match=r"Point: \['x'\] missing, \['z'\] unknown or given twice, 0 too many"):
        Point(z=3)  # type: ignore[call-arg]


def test_values_cannot_be_changed() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match="cannot change field 'x' of Point"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="'y'"):
        del point.y  # type: ignore[misc]
    with pytest.raises(AttributeError):
        point.colour = "red"  # type: ignore[attr-defined]
    assert not hasattr(point, "__dict__")


def test_equality_needs_the_same_class() -> None:
    assert Point(1, 2) == Point(1, 2)
    assert Point(1, 2) != Point(2, 1)
    assert Point(1, 2) != Other(1, 2)
    assert Point(1, 2) != (1, 2, None)
    assert Single(1) == Single(1)


def test_equal_values_have_equal_hashes() -> None:
    assert hash(Point(1, 2)) == hash(Point(1, 2))
    assert len({Point(1), Point(1, 0), Point(2), Single(1), Single(1)}) == 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(Single([]))


def test_only_ordered_values_compare() -> None:
    assert Release(0, 9) < Release(0, 11) <= Release(0, 11) < Release(1)
    assert Release(2) > Release(1, 9) >= Release(1, 9)
    assert max(Release(0, 2), Release(0, 10)) == Release(0, 10)
    for other in (Point(1), 5):
        with pytest.raises(TypeError):
            assert Release(1) < other  # type: ignore[operator]
    with pytest.raises(TypeError):
        assert Point(1) < Point(2)  # type: ignore[operator]


def test_texts() -> None:
    assert repr(Point(1, name="a")) == "Point(x=1, y=0, name='a')"
    assert repr(Single(Point(1))) == "Single(item=Point(x=1, y=0, name=None))"
    assert str(Release(0, 11)) == "0.11"
    assert Point.__doc__ == "A place."
    assert (Point.__name__, Point.__qualname__, Point.__module__) == ("Point", "Point", __name__)


def test_replace() -> None:
    point = Point(1, 2, "a")
    assert replace(point, y=5) == Point(1, 5, "a")
    assert replace(point) == point
    assert replace(Single(1), item=2) == Single(2)
    with pytest.raises(TypeError, match="Point: no fields z, w"):
        replace(point, z=1, w=2)


def test_a_check_runs_on_every_new_value() -> None:
    assert Checked(1).size == 1
    with pytest.raises(ValueError, match="size -1"):
        Checked(-1)
    with pytest.raises(ValueError, match="size -2"):
        replace(Checked(1), size=-2)


def test_patterns() -> None:
    match Point(1, 2):
        case Point(x, y, name=None):
            assert (x, y) == (1, 2)
        case _:
            pytest.fail("no match")


def test_what_is_known_of_a_class() -> None:
    assert fields(Point) == ("x", "y", "name")
    assert dict(defaults(Point)) == {"y": 0, "name": None}
    assert [is_value(item) for item in (Point(1), Single(1), 1, "x", None)] == [True, True, False, False, False]


def test_own_methods_come_first() -> None:
    @value
    class Whole:
        parts: tuple[int, ...]

        def __eq__(self, other: object) -> bool:
            return self is other

        __hash__ = object.__hash__

    one = Whole((1,))
    assert one == one
    assert one != Whole((1,))
    assert len({one, Whole((1,))}) == 2


def test_dataclasses_know_values() -> None:
    point = Point(1, 2)
    assert dataclasses.asdict(Single(point)) == {"item": {"x": 1, "y": 2, "name": None}}
    assert dataclasses.replace(point, y=3) == Point(1, 3)
    assert [field.name for field in dataclasses.fields(Point)] == ["x", "y", "name"]


def test_copies() -> None:
    point = Point(1, 2, "a")
    assert copy.copy(point) == copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys; before = set(sys.modules); import tonnage.value;"
        "print(*sorted(m for m in set(sys.modules) - before if not m.startswith('tonnage')))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, env=src_only(), check=True
    )
    assert set(done.stdout.split()) <= {"__future__", "_operator"}


def src_only() -> dict[str, str]:
    """An environment in which only this checkout is found."""
    return {"PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")}


TYPES = """
from __future__ import annotations
from tonnage.value import ordered_value, replace, value

@value
class A:
    a: int
    b: str = "x"

@ordered_value
class V:
    major: int

A(1, b="y").a + 1
V(1) < V(2)
match A(1):
    case A(x):
        x + 1
replace(A(1), b="z").b.upper()
"""


@pytest.mark.slow
def test_a_type_checker_sees_fields(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(TYPES)
    bad.write_text(TYPES + "A()\nA('x')\nA(1, c=2)\nA(1).a = 2\nA(1) < A(2)\nA(1).c\n")
    first = len(TYPES.splitlines()) + 1
    options = ["--strict", "--python-version", "3.11", "--cache-dir", str(tmp_path / "cache"), "--no-error-summary"]
    assert api.run([*options, str(good)])[0] == ""
    found = {int(line.split(":")[1]) for line in api.run([*options, str(bad)])[0].splitlines() if "error" in line}
    assert found == set(range(first, first + 6))
