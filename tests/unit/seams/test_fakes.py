"""The fakes behave as what they stand for."""

import pytest

from tonnage.errors import UnreadableError, UsageError, WorldError
from tonnage.seams.fakes import FakePlaces, FakeRunner, FakeStore
from tonnage.seams.process import Finished
from tonnage.seams.store import Place


def test_a_store_of_bytes_records_what_is_read() -> None:
    store = FakeStore({"b": b"0123", "a": b""}, sizes={"a": 10**12})
    assert store.names() == ("a", "b")
    assert (store.size("a"), store.size("b")) == (10**12, 4)
    assert store.read("b", 1, 2) == b"12"
    assert store.reads == [("b", 1, 2)]
    assert store.each(store.size, ["b"]) == [4]
    with pytest.raises(UnreadableError, match="fake/c: No such file"):
        store.size("c")


def test_places_are_known_by_name() -> None:
    place = Place(FakeStore({}))
    places = FakePlaces({"hf:org/name": place})
    assert places("hf:org/name") is place
    with pytest.raises(UsageError, match="'hf:org/other': one of hf:org/name"):
        places("hf:org/other")


def test_a_runner_answers_from_its_table() -> None:
    runner = FakeRunner({("nvidia-smi", "-L"): Finished(0, "GPU 0\n", "")})
    assert runner(["nvidia-smi", "-L"], 5).output == "GPU 0\n"
    with pytest.raises(WorldError, match="'rocm-smi'"):
        runner(["rocm-smi"], 5)
    assert runner.calls == [(("nvidia-smi", "-L"), 5), (("rocm-smi",), 5)]
